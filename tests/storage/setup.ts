import { onTestFinished } from "vitest";
import { openTestDatabase } from "../database.ts";

/** An empty database of the run's dialect, until the test ends. */
export async function onDatabase() {
  const { database, close } = await openTestDatabase();
  onTestFinished(close);
  return database;
}
