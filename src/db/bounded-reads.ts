import { sql } from "drizzle-orm";
import { EngineError } from "../core/errors.ts";
import { Semaphore } from "../core/limits/semaphore.ts";
import { type Database, type Db, sqlState } from "./client.ts";

const atOnce = 2;
const mayWait = 8;
const retryAfterSeconds = 2;

/**
 * Runs `fn` in a transaction with one snapshot of the database, with 5 seconds for each statement (no limit on the
 * embedded database). Throws a 429 when 8 other reads wait, and a 503 when a statement takes too long.
 */
export type BoundedReads = <T>(database: Database, fn: (tx: Db) => Promise<T>) => Promise<T>;

/** The names in errors: of the data, such as `the audit log`, and of one query. */
interface ReadNames {
  what: string;
  query: string;
}

/**
 * `BoundedReads` that runs two at a time in this process: a read may take very many rows, and the rest of the server
 * needs connections too.
 */
export function createBoundedReads(named: ReadNames): BoundedReads {
  const slots = new Semaphore({ most: atOnce });
  return async (database, fn) => {
    if (slots.waiting === mayWait) throw tooMany(named);
    return slots.run(undefined, new AbortController().signal, () => withDeadline(database, fn, named));
  };
}

async function withDeadline<T>(database: Database, fn: (tx: Db) => Promise<T>, { what }: ReadNames): Promise<T> {
  try {
    return await database.transaction(async (tx) => {
      await tx.execute(sql`set transaction isolation level repeatable read read only`);
      await tx.execute(sql`set local statement_timeout = '5s'`);
      return fn(tx);
    });
  } catch (error) {
    if (!(error instanceof EngineError) || sqlState(error.cause) !== "57014") throw error;
    const advice = "ask for a shorter period with from and to";
    throw new EngineError("unavailable", `Reading ${what} took too long: ${advice}`, { cause: error });
  }
}

function tooMany({ query }: ReadNames): EngineError {
  return new EngineError("rate-limited", `Too many ${query} queries at once`, { retryAfterSeconds });
}
