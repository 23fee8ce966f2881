import { PostgresJsPreparedQuery } from "drizzle-orm/postgres-js";
import { onTestFinished, vi } from "vitest";
import type { Database } from "../src/db/client.ts";

/** A statement as tests look for something in it: names without quotes, and a space where there is space. */
export const plainText = (text: string) => text.replaceAll('"', "").replaceAll(/\s+/g, " ").trim();

interface Builder {
  queryWithCache(text: string, parameters: unknown[], run: () => Promise<unknown>): Promise<unknown>;
}

/** What every statement goes through: those of the hot path, and those of the query builder, of any database. */
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
    failWith(error: Error) {
      for (const spy of spies) spy.mockRejectedValue(error);
    },
    restore,
  };
}
