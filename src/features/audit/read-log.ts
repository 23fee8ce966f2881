import { sql } from "drizzle-orm";
import { EngineError } from "../../core/errors.ts";
import { type Database, type Db, sqlState } from "../../db/client.ts";

const atOnce = 2;
const mayWait = 8;
const retryAfterSeconds = 2;

/**
 * Runs `fn` in a transaction whose statements have 5 seconds each; the embedded database keeps no deadline. Throws the
 * 429 while 8 other reads wait, and the 503 of a statement that took too long.
 */
export type ReadLog = <T>(database: Database, fn: (tx: Db) => Promise<T>) => Promise<T>;

/**
 * A `ReadLog` that runs two reads at a time in this process: one read may go through very many entries, and the rest of
 * the server needs connections too.
 */
export function createReadLog(): ReadLog {
  const running = new Set<Promise<unknown>>();
  let open = 0;
  return async (database, fn) => {
    if (open === atOnce + mayWait) throw tooMany();
    open += 1;
    while (running.size === atOnce) await Promise.race(running);
    const read = withDeadline(database, fn);
    const leave = () => {
      open -= 1;
      running.delete(ended);
    };
    const ended = read.then(leave, leave);
    running.add(ended);
    return read;
  };
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
