import { type PgDatabase, PgJsonb } from "drizzle-orm/pg-core";
import {
  drizzle,
  PostgresJsPreparedQuery,
  type PostgresJsQueryResultHKT,
  type PostgresJsSession,
} from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import type { Parameter, Rows, Target } from "./connection.ts";
import { openPool, type Pool, type PoolOptions, type PoolUse, type Run } from "./pool.ts";
import { inTransaction, type Transaction } from "./transaction.ts";

export type { Parameter, Target } from "./connection.ts";
export { sqlState } from "./failures.ts";
export type { PoolOptions } from "./pool.ts";

/** The query builder, inside or outside a transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT>;

/**
 * A database. Every statement has a deadline: with a hung or unreachable server it rejects with an `EngineError`
 * `unavailable`. Other failures are the database's own errors, unwrapped; `sqlState` distinguishes them.
 */
export interface Database {
  readonly db: Db;
  /**
   * Runs one statement without Drizzle, for the hot path. JSON goes in as text, timestamps come out as text. `brief` as
   * for `Run`.
   */
  query<Row extends object>(text: string, parameters: readonly Parameter[], brief?: boolean): Promise<Row[]>;
  /**
   * Runs `fn` in one transaction; `tx.transaction` makes savepoints. `fn` must not use the outer `db`: that runs
   * outside the transaction, and on the embedded database waits for the transaction's end until its deadline.
   */
  transaction<T>(fn: (tx: Db) => Promise<T>): Promise<T>;
  use(): PoolUse;
  /** As for `Pool`. */
  isUsable(): boolean;
  close(): Promise<void>;
}

// Drizzle would wrap each failure in an error with all parameters in its message, which must not reach a log.
Object.assign(PostgresJsPreparedQuery.prototype, {
  queryWithCache: (_text: string, _parameters: unknown[], run: () => Promise<unknown>) => run(),
});

// Drizzle would parse a text inside JSON again: the text "17" would become a number.
Object.assign(PgJsonb.prototype, { mapFromDriverValue: (value: unknown) => value });

/** Opens a pool; the first statement that needs a connection makes it. */
export function openDatabase(target: Target, options: PoolOptions): Database {
  return databaseOn(openPool(target, options));
}

/** The database that a pool reaches. */
export function databaseOn(pool: Pool): Database {
  const db: Db = drizzle(asClient(pool.run, { begin: (fn) => inTransaction(pool, (tx) => fn(asTransaction(tx))) }));
  return {
    db,
    query: (text, parameters, brief) => pool.run(text, parameters, "objects", brief) as Promise<never>,
    transaction: (fn) => db.transaction(fn),
    use: pool.use,
    isUsable: pool.isUsable,
    close: pool.close,
  };
}

/** Runs compiled statements: the database, or `queriesOf` a transaction. */
export type Queries = Pick<Database, "query">;

/** Runs compiled statements in the transaction of a query builder. */
export function queriesOf(tx: Db): Queries {
  const { client } = tx._.session as PostgresJsSession<Sql, never, never>;
  return { query: async (text, parameters) => client.unsafe(text, parameters as never) as never };
}

/**
 * A statement as Drizzle uses it: awaiting it runs it and returns rows as objects; `values()` returns them as arrays.
 */
interface Pending extends PromiseLike<Rows> {
  values(): Promise<Rows>;
}

type Nested = (fn: (client: Sql) => Promise<unknown>) => Promise<unknown>;

/** A stand-in for the postgres.js client that Drizzle expects. Drizzle sets parsers on it, which nothing reads. */
function asClient(run: Run, nested: { begin: Nested } | { savepoint: Nested }): Sql {
  const unsafe = (text: string, parameters: readonly Parameter[] = []): Pending => ({
    // biome-ignore lint/suspicious/noThenProperty: this stands in for a postgres.js query, which is a thenable too.
    then: (onfulfilled, onrejected) => run(text, parameters, "objects").then(onfulfilled, onrejected),
    values: () => run(text, parameters, "arrays"),
  });
  return { options: { parsers: {}, serializers: {} }, unsafe, ...nested } as unknown as Sql;
}

function asTransaction(tx: Transaction): Sql {
  return asClient(tx.run, { savepoint: (fn) => tx.savepoint(() => fn(asTransaction(tx))) });
}
