import { PostgresJsPreparedQuery } from "drizzle-orm/postgres-js";
import { onTestFinished, vi } from "vitest";
import type { Database } from "../src/db/client.ts";
import { plainText } from "./plain-text.ts";

interface Builder {
  queryWithCache(text: string, parameters: unknown[], run: () => Promise<unknown>): Promise<unknown>;
}

/**
 * Spies on every statement: on those of this database's hot path, and on those of the query builder of any database.
 */
export function spyOnStatements(database: Database) {
  const spies = [
    vi.spyOn(database, "query"),
    vi.spyOn(PostgresJsPreparedQuery.prototype as unknown as Builder, "queryWithCache"),
  ];
  const restore = () => {
    for (const spy of spies) spy.mockRestore();
  };
  onTestFinished(restore);
  return {
    texts: () => spies.flatMap((spy) => spy.mock.calls.map(([text]) => plainText(text))),
    /** The statements as they were sent, with their parameters. */
    calls: () => spies.flatMap((spy) => spy.mock.calls.map(([text, parameters]) => ({ text, parameters }))),
    failWith(error: Error) {
      for (const spy of spies) spy.mockRejectedValue(error);
    },
    restore,
  };
}
