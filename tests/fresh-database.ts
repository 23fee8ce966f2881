import { onTestFinished } from "vitest";
import { systemClock } from "../src/adapters/node/clock.ts";
import { type Database, openDatabase, type Target } from "../src/db/client.ts";
import type { PoolOptions } from "../src/db/pool/pool.ts";
import { createDatabase, dropDatabase, type TestPostgres } from "./real-postgres.ts";

/** The address of a database with the schema, which is dropped when the test ends. */
export async function freshDatabase(server: TestPostgres | null): Promise<string> {
  const url = await createDatabase(server?.url ?? "");
  onTestFinished(() => dropDatabase(url));
  return url;
}

/** A pool that is closed when the test ends, before its database is dropped. */
export function poolOn(target: Target, options: Partial<PoolOptions> = {}): Database {
  const database = openDatabase(target, { max: 4, prepare: true, deadlineMs: 10_000, clock: systemClock, ...options });
  onTestFinished(() => database.close());
  return database;
}
