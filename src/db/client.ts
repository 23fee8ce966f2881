import type { PgDatabase } from "drizzle-orm/pg-core";
import { drizzle, PostgresJsPreparedQuery, type PostgresJsQueryResultHKT } from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import type { Parameter, Rows, Target } from "./connection.ts";
import { openPool, type PoolOptions, type Run } from "./pool.ts";
import * as schema from "./schema.ts";
import { inTransaction, type Transaction } from "./transaction.ts";

export type { Parameter, Target } from "./connection.ts";
export { sqlState } from "./failures.ts";
export type { PoolOptions } from "./pool.ts";

/** The query builder, inside or outside a transaction. */
export type Db = PgDatabase<PostgresJsQueryResultHKT, typeof schema>;

/**
 * Every statement has a deadline; a hung or unreachable server answers an `EngineError` `unavailable`. Failures are
 * the database's own errors, unwrapped: `sqlState` tells them apart.
 */
export interface Database {
  readonly db: Db;
  /** Runs one statement as it is: the hot path. JSON goes in as text, timestamps come out as text. */
  query<Row extends object>(text: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /**
   * `fn` in one transaction, with savepoints by `tx.transaction`. The outer `db` must not be used inside: it is not
   * part of the transaction, and on the embedded database it waits for the transaction's end until its deadline.
   */
  transaction<T>(fn: (tx: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

// Drizzle wraps each failure in an error whose message holds all parameters: those must not reach a log.
Object.assign(PostgresJsPreparedQuery.prototype, {
  queryWithCache: (_text: string, _parameters: unknown[], run: () => Promise<unknown>) => run(),
});

/** Opens the pool; a connection is made by the first statement that needs it. */
export function openDatabase(target: Target, options: PoolOptions): Database {
  const pool = openPool(target, options);
  const db: Db = drizzle(asClient(pool.run, { begin: (fn) => inTransaction(pool, (tx) => fn(asTransaction(tx))) }), {
    schema,
  });
  return {
    db,
    query: (text, parameters) => pool.run(text, parameters, "objects") as Promise<never>,
    transaction: (fn) => db.transaction(fn),
    close: () => pool.close(),
  };
}

/** A statement as Drizzle uses it: it starts when it is awaited, as objects or through `values()` as arrays. */
interface Pending extends PromiseLike<Rows> {
  values(): Promise<Rows>;
}

type Nested = (fn: (client: Sql) => Promise<unknown>) => Promise<unknown>;

/** What Drizzle sees as its postgres.js client. It sets its own parsers on it, which ours make needless. */
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
