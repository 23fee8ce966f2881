import type { Target } from "./connection.ts";
import { openPool, type Pool, type PoolOptions, type PoolUse } from "./pool.ts";
import { type Db, type Queries, queryBuilder } from "./query-builder.ts";
import { inTransaction } from "./transaction.ts";

export type { Parameter, Target } from "./connection.ts";
export { sqlState } from "./failures.ts";
export type { PoolOptions } from "./pool.ts";
export { type Db, type Queries, queriesOf } from "./query-builder.ts";

/**
 * A database. Every statement has a deadline: with a hung or unreachable server it rejects with an `EngineError`
 * `unavailable`. Other failures are the database's own errors, unwrapped; `sqlState` distinguishes them.
 */
export interface Database extends Queries {
  readonly db: Db;
  /**
   * Runs `fn` in one transaction. `fn` must not use the outer `db`: that runs outside the transaction, and on the
   * embedded database waits for the transaction's end until its deadline.
   */
  transaction<T>(fn: (tx: Db) => Promise<T>): Promise<T>;
  use(): PoolUse;
  /** As for `Pool`. */
  isUsable(): boolean;
  close(): Promise<void>;
}

/** Opens a pool; the first statement that needs a connection makes it. */
export function openDatabase(target: Target, options: PoolOptions): Database {
  return databaseOn(openPool(target, options));
}

/** The database that a pool reaches. */
export function databaseOn(pool: Pool): Database {
  return {
    db: queryBuilder(pool.run),
    query: (text, parameters, brief) => pool.run(text, parameters, "objects", brief) as Promise<never>,
    transaction: (fn) => inTransaction(pool, (run) => fn(queryBuilder(run))),
    use: pool.use,
    isUsable: pool.isUsable,
    close: pool.close,
  };
}
