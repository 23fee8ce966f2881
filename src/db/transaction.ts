import type { Rows } from "./connection.ts";
import type { Pool, Run } from "./pool.ts";

export interface Transaction {
  run: Run;
  /** `fn` in a savepoint: when it throws, what it did is undone and the transaction goes on. */
  savepoint<T>(fn: () => Promise<T>): Promise<T>;
}

/**
 * `fn` in a transaction on a connection of its own: committed when it returns, rolled back when it throws. It rejects,
 * too, when a statement had failed before and `fn` went on: the server then has nothing to commit.
 */
export async function inTransaction<T>(pool: Pool, fn: (tx: Transaction) => Promise<T>): Promise<T> {
  const connection = await pool.reserve();
  let over = false;
  let failure: unknown;
  let savepoints = 0;

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

  const savepoint = async <S>(nested: () => Promise<S>): Promise<S> => {
    savepoints += 1;
    const name = `s${savepoints}`;
    await run(`savepoint ${name}`, [], "objects");
    try {
      const result = await nested();
      await run(`release savepoint ${name}`, [], "objects");
      return result;
    } catch (error) {
      await run(`rollback to savepoint ${name}`, [], "objects").then(
        () => {
          failure = undefined;
        },
        // Then the transaction is lost as a whole, and its commit will say so.
        () => {},
      );
      throw error;
    }
  };

  try {
    await command("begin");
    const result = await fn({ run, savepoint });
    over = true;
    const { command: tag } = await command("commit");
    if (tag !== "COMMIT") throw failure ?? new Error("The transaction could not be committed");
    return result;
  } catch (error) {
    if (!over) {
      over = true;
      // A connection that can't even roll back is lost, and with it the transaction.
      await command("rollback").catch(() => {});
    }
    throw error;
  } finally {
    connection.release();
  }
}
