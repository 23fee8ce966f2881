import { type Check, ok } from "../../../core/check.ts";

/** Names the database by its `server_version_num`, such as 150004. `at` is its host; null for the embedded one. */
export function checkDatabase(version: number, at: string | null): Check {
  const server = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
  return ok("database", at === null ? `Embedded, ${server}` : `${server} at ${at}`);
}
