import type { Rows } from "./connection.ts";
import type { Pool, Run } from "./pool.ts";

/**
 * Runs `fn` in a transaction on a connection of its own: commits when `fn` returns, rolls back when `fn` throws. Also
 * rejects when `fn` went on after a failed statement, since the server then commits nothing.
 */
export async function inTransaction<T>(pool: Pool, fn: (run: Run) => Promise<T>): Promise<T> {
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
