import type { Rows, Target } from "./pool/connection.ts";
import { openPool, type Pool, type PoolOptions, type PoolUse, type Run } from "./pool/pool.ts";
import { type Db, type Queries, queryBuilder } from "./query-builder.ts";

export type { Parameter, Target } from "./pool/connection.ts";
export { sqlState } from "./pool/failures.ts";
export type { PoolOptions } from "./pool/pool.ts";
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

/** Opens a pool. A connection is made when a statement first needs it. */
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

/**
 * Runs `fn` in a transaction on a connection of its own: commits when `fn` returns, rolls back when `fn` throws. Also
 * rejects when `fn` went on after a failed statement, since the server then commits nothing.
 */
async function inTransaction<T>(pool: Pool, fn: (run: Run) => Promise<T>): Promise<T> {
  const connection = await pool.reserve();
  let over = false;
  let failure: unknown;

  const run: Run = async (text, parameters, shape) => {
    if (over) throw new Error("The transaction is over: a statement in it was not awaited");
    try {
      return await connection.run(text, parameters, shape);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  const command = (text: string): Promise<Rows> => connection.run(text, [], "objects");

  try {
    await command("begin");
    const result = await fn(run);
    over = true;
    const { command: tag } = await command("commit");
    if (tag !== "COMMIT") throw failure ?? new Error("The transaction could not be committed");
    return result;
  } catch (error) {
    if (!over) {
      over = true;
      // A connection that can't roll back is lost, and its transaction with it.
      await command("rollback").catch(() => {});
    }
    throw error;
  } finally {
    connection.release();
  }
}
