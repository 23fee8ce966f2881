import postgres from "postgres";
import type { Clock } from "../../core/ports.ts";
import { readArray, writeArray } from "../arrays.ts";
import type { Server } from "./server-options.ts";

/** A server, or a function that opens a byte stream to the embedded database. */
export type Target = Server | { dial: () => unknown };

export type Parameter = string | number | boolean | Uint8Array | Date | readonly string[] | null;

/** Rows as objects or, for Drizzle, as arrays; `command` is the server's tag, such as `COMMIT`. */
export type Rows = readonly unknown[] & { command: string };

export type Shape = "objects" | "arrays";

export interface Connection {
  /** `alone`: the statement is no part of a transaction. */
  run(text: string, parameters: readonly Parameter[], shape: Shape, alone?: boolean): Promise<Rows>;
  /** The server's name for the session; empty where sessions have none. Null before the connection is open. */
  session(): string | null;
  /** Waits at most 5 seconds for running statements. */
  close(): Promise<void>;
  /** Ends the connection at once; statements that the driver queued may never settle. */
  destroy(): void;
}

export interface ConnectionOptions {
  prepare: boolean;
  clock: Clock;
  /** The server's own deadline for a statement; 0 for none. Ignored by the embedded database. */
  statementTimeoutMs?: number;
  /** Called when the connection closes, before its running statements reject. */
  onClose?: () => void;
  /** Called with the payload of each message on a channel that the connection listens to. Must not throw. */
  onNotification?: (payload: string) => void;
}

const connectTimeoutSeconds = 10;

/** How many sockets the driver may request; it requests a few for each attempt. */
const mostSocketRequests = 8;

const asText = <T>(value: T): T => value;

/**
 * The driver's types. JSON goes in as text and comes out parsed; times go in as text or dates and come out as text.
 * Lists are declared, since the driver would otherwise query each server for their types, and a connection that breaks
 * meanwhile would end the process with an unhandled rejection.
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
 * One connection of the driver, opened by its first statement and never reopened: when postgres.js reconnects, it may
 * end the process, run the rest of a transaction outside of it, or hang (its issues 1133, 1208 and 1216).
 */
export function connect(place: { socket?: () => unknown }, options: ConnectionOptions): Connection {
  const { prepare, onClose = () => {}, onNotification } = options;
  let destroyed = false;
  const shared = {
    max: 1,
    prepare,
    types,
    fetch_types: false,
    connect_timeout: connectTimeoutSeconds,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    onnotify: (_channel: string, payload: string) => onNotification?.(payload),
    onclose: () => {
      neverAgain();
      onClose();
    },
    // The driver goes on with a TLS handshake that is under way when it is told to end, and logs in.
    onparameter: () => {
      if (destroyed) void (sql as unknown as { close(): Promise<void> }).close();
    },
  };
  const sql = postgres(asOptions({ ...shared, ...place }));

  // The driver requests its socket at each attempt, and repeats without pause or end when a server closes the
  // connection before its first message. `refuse` ends this.
  let socketRequests = 0;
  Object.defineProperty(sql.options, "socket", {
    get() {
      socketRequests += 1;
      return socketRequests > mostSocketRequests ? refuse : place.socket;
    },
  });
  const neverAgain = () => {
    socketRequests = Number.POSITIVE_INFINITY;
  };

  return {
    run(text, parameters, shape) {
      const query = sql.unsafe(text, parameters as postgres.ParameterOrJSON<never>[], { prepare });
      return (shape === "arrays" ? query.values() : query) as unknown as Promise<Rows>;
    },
    session: () => "",
    close: () => sql.end({ timeout: 5 }),
    destroy() {
      destroyed = true;
      neverAgain();
      void sql.end({ timeout: 0 });
    },
  };
}

/** The driver's options for the embedded database. */
export const embeddedOptions = ({ dial }: { dial: () => unknown }) => ({
  socket: dial,
  ssl: false,
  username: "postgres",
  password: "",
  database: "postgres",
});

/** The driver's types lack `socket`, `onnotify` and `onparameter`, as they lack its `close`. */
const asOptions = (options: object) => options as postgres.Options<Record<string, never>>;

function refuse(): never {
  throw Object.assign(new Error("The connection is closed"), { code: "CONNECTION_CLOSED" });
}
