import type { PgDatabase } from "drizzle-orm/pg-core";
import { drizzle, type PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import * as schema from "./schema.ts";

/** The query builder, inside or outside a transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT, typeof schema>;

export type Parameter = string | number | boolean | Uint8Array | Date | readonly string[] | null;

export interface Database {
  readonly db: Db;
  /** Runs one statement as it is: the hot path. JSON goes in as text, timestamps come out as text. */
  query<Row extends object>(text: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /** `fn` in one transaction. The outer `db` must not be used inside: on the embedded database it would wait for ever. */
  transaction<T>(fn: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Connections to hold; exactly 1 for the embedded database. */
  max: number;
  /** Named statements: saves parsing, and the embedded database is only right with them. */
  prepare: boolean;
  /** Deadline of a statement, in milliseconds. When it passes, every socket of the pool is dropped. */
  deadlineMs: number;
  clock: Clock;
}

type Sql = postgres.Sql;
type Transaction = postgres.TransactionSql;

/** A statement on its way, in the form in which Drizzle uses it. */
interface Pending extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

/**
 * Opens the pool. Every statement, Drizzle's too, goes through `guard`: it is named, and it has a deadline,
 * because a query to a hung server otherwise waits for ever, whatever `connect_timeout` says.
 */
export function openDatabase(
  target: string | { socket: string; database: string },
  options: DatabaseOptions,
): Database {
  const connect = (): Sql => {
    const shared = {
      max: options.max,
      prepare: options.prepare,
      connect_timeout: 10,
      onnotice: () => {},
      connection: { application_name: "agent-engine", TimeZone: "UTC" },
    };
    if (typeof target === "string") return postgres(target, { ...shared, idle_timeout: 300 });
    const { socket, database } = target;
    return postgres({
      ...shared,
      path: socket,
      database,
      username: "postgres",
      password: "postgres",
      fetch_types: false,
    });
  };

  let sql = connect();
  let closed = false;

  /** Drops every socket: their queries fail, and the next statement finds a fresh pool. */
  const drop = (hung: Sql) => {
    if (hung !== sql || closed) return;
    sql = connect();
    adopt(sql);
    void hung.end({ timeout: 0 });
  };

  const guard = <T>(pending: PromiseLike<T>): Promise<T> => {
    const running = sql;
    return new Promise<T>((resolve, reject) => {
      const cancel = options.clock.after(options.deadlineMs, () => {
        drop(running);
        reject(new EngineError("unavailable", "The database did not answer in time"));
      });
      pending.then(
        (value) => {
          cancel();
          resolve(value);
        },
        (cause: unknown) => {
          cancel();
          reject(
            isConnectionError(cause) ? new EngineError("unavailable", "The database is unreachable", { cause }) : cause,
          );
        },
      );
    });
  };

  const unsafe = (client: Sql | Transaction, text: string, parameters: readonly Parameter[]): Pending => {
    const query = client.unsafe(text, parameters as postgres.ParameterOrJSON<never>[], { prepare: options.prepare });
    return {
      // biome-ignore lint/suspicious/noThenProperty: this stands in for a postgres.js query, which is a thenable too.
      then: (onfulfilled, onrejected) => guard(query).then(onfulfilled, onrejected),
      values: () => guard(query.values()),
    };
  };

  const begin = (fn: (tx: unknown) => Promise<unknown>) => sql.begin((tx) => fn(inTransaction(tx)));
  const inTransaction = (tx: Transaction): unknown => ({
    options: sql.options,
    unsafe: (text: string, parameters: readonly Parameter[] = []) => unsafe(tx, text, parameters),
    savepoint: (fn: (inner: unknown) => Promise<unknown>) => tx.savepoint((inner) => fn(inTransaction(inner))),
  });

  /** What Drizzle sees as its postgres.js client. It outlives the pools behind it. */
  const facade = {
    options: sql.options,
    unsafe: (text: string, parameters: readonly Parameter[] = []) => unsafe(sql, text, parameters),
    begin,
  };
  const db: Db = drizzle(facade as unknown as Sql, { schema });

  /** Gives a fresh pool the parsers and serializers that Drizzle set on the first one. */
  const adopt = (fresh: Sql) => {
    Object.assign(fresh.options.parsers, facade.options.parsers);
    Object.assign(fresh.options.serializers, facade.options.serializers);
  };

  return {
    db,
    query: (text, parameters) =>
      guard(sql.unsafe(text, parameters as postgres.ParameterOrJSON<never>[], { prepare: options.prepare })) as never,
    transaction: (fn) => db.transaction(fn),
    async close() {
      closed = true;
      await sql.end({ timeout: 5 });
    },
  };
}

const connectionErrors = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "ENOENT",
  "EPIPE",
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "57P01",
  "57P03",
]);

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && "code" in error && connectionErrors.has(String(error.code));
}

/** The SQLSTATE behind an error, through Drizzle's wrapper. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code)) return error.code;
  return sqlState(error.cause);
}
