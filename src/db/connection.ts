import postgres from "postgres";
import { readArray, writeArray } from "./arrays.ts";

/** Where the database is: an address, or a way to open a byte stream to the embedded one. */
export type Target = { url: string } | { dial: () => unknown };

export type Parameter = string | number | boolean | Uint8Array | Date | readonly string[] | null;

/** Rows as objects or, for Drizzle, as arrays; `command` is the server's tag, such as `COMMIT`. */
export type Rows = readonly unknown[] & { command: string };

export type Shape = "objects" | "arrays";

export interface Connection {
  run(text: string, parameters: readonly Parameter[], shape: Shape): Promise<Rows>;
  /** Lets running statements finish, for at most 5 seconds. */
  close(): Promise<void>;
  /** Ends it at once; statements that the driver holds back may never settle. */
  destroy(): void;
}

export interface ConnectionOptions {
  prepare: boolean;
  /** Also the server's own deadline for a statement, where it has one. */
  statementTimeoutMs?: number;
  /** Called when it is closed, before any statement that was running learns of it. */
  onClose?: () => void;
  /** Called with the payload of each message on a channel that was listened to. Must not throw. */
  onNotification?: (payload: string) => void;
}

const connectTimeoutSeconds = 10;

/** How often the driver may ask for a socket, for each host of the address: a few times a try. */
const mostAsked = 8;

const asText = <T>(value: T): T => value;

/**
 * JSON goes in as text that the caller made and comes out parsed; times go in as text or dates and come out as text.
 * Lists are here because the driver asks each server how to write them, and a connection that breaks meanwhile ends
 * the process with an unhandled rejection.
 */
const types = {
  json: { to: 114, from: [114, 3802], serialize: asText, parse: (text: string): unknown => JSON.parse(text) },
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: (value: string | Date) => (value instanceof Date ? value.toISOString() : value),
    parse: asText,
  },
  // Lists of text, varchar, name and uuid.
  list: { to: 1009, from: [1003, 1009, 1015, 2951], serialize: writeArray, parse: readArray },
};

/**
 * One connection, opened by its first statement and never opened again. postgres.js reconnects on its own, but then
 * it may end the process, run the rest of a transaction outside of it or hang (its issues 1133, 1208 and 1216).
 */
export function openConnection(target: Target, options: ConnectionOptions): Connection {
  const { prepare, statementTimeoutMs, onClose = () => {}, onNotification } = options;
  const shared = {
    max: 1,
    prepare,
    types,
    fetch_types: false,
    connect_timeout: connectTimeoutSeconds,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    // Not in the driver's types.
    ...{ onnotify: (_channel: string, payload: string) => onNotification?.(payload) },
    onclose: () => {
      neverAgain();
      onClose();
    },
  };
  const sql =
    "url" in target
      ? postgres(target.url, {
          ...shared,
          connection: {
            application_name: "agent-engine",
            TimeZone: "UTC",
            DateStyle: "ISO",
            // A pooler refuses settings that it does not know.
            ...(prepare && statementTimeoutMs ? { statement_timeout: statementTimeoutMs } : {}),
          },
        })
      : postgres({
          ...shared,
          ...{ socket: target.dial },
          ssl: false,
          username: "postgres",
          password: "",
          database: "postgres",
        });

  // The driver asks for its socket at each try. Where a server closes before its first word, the driver tries again at
  // once and without end.
  let asked = 0;
  const socket = "url" in target ? undefined : target.dial;
  Object.defineProperty(sql.options, "socket", {
    get() {
      asked += 1;
      return asked > mostAsked * sql.options.host.length ? refuse : socket;
    },
  });
  const neverAgain = () => {
    asked = Number.POSITIVE_INFINITY;
  };

  return {
    run(text, parameters, shape) {
      const query = sql.unsafe(text, parameters as postgres.ParameterOrJSON<never>[], { prepare });
      return (shape === "arrays" ? query.values() : query) as unknown as Promise<Rows>;
    },
    close: () => sql.end({ timeout: 5 }),
    destroy() {
      neverAgain();
      void sql.end({ timeout: 0 });
    },
  };
}

function refuse(): never {
  throw Object.assign(new Error("The connection is closed"), { code: "CONNECTION_CLOSED" });
}
