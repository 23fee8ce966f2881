import { sql } from "drizzle-orm";
import { EngineError } from "../../core/errors.ts";
import { type Database, type Db, sqlState } from "../../db/client.ts";

const atOnce = 2;
const mayWait = 8;
const retryAfterSeconds = 2;

/**
 * Lets a few readings of the audit log into the database at a time, in this process: each may go through very many
 * entries, and everybody else needs connections too.
 */
export class Readings {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /**
   * `fn` in a transaction whose statements have 5 seconds each (the embedded database keeps no deadline). Throws the 429
   * when too many wait and the 503 of a statement that took too long.
   */
  async read<T>(database: Database, fn: (tx: Db) => Promise<T>): Promise<T> {
    if (this.#running < atOnce) this.#running += 1;
    else await this.#place();
    try {
      return await withDeadline(database, fn);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }

  /** The place of a reading that ends. */
  async #place(): Promise<void> {
    if (this.#waiting.length >= mayWait) throw tooMany();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

async function withDeadline<T>(database: Database, fn: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await database.transaction(async (tx) => {
      await tx.execute(sql`set local statement_timeout = '5s'`);
      return fn(tx);
    });
  } catch (error) {
    if (!(error instanceof EngineError) || sqlState(error.cause) !== "57014") throw error;
    const advice = "ask for a shorter period with from and to";
    throw new EngineError("unavailable", `Reading the audit log took too long: ${advice}`, { cause: error });
  }
}

function tooMany(): EngineError {
  const headers = { "Retry-After": String(retryAfterSeconds) };
  return new EngineError("rate-limited", "Too many audit queries at once", { headers });
}
