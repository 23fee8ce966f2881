import { createDatabase, dropDatabase } from "../real-postgres.ts";
import { atEnd, dataDirectory, quickstart } from "../runtime/program.ts";

/**
 * The settings of a server for a test whose subject is not the database, such as a page's. With `TEST_DATABASE_URL` the
 * database is on that PostgreSQL: the start takes half as long.
 */
export async function settingsOfServer(environment: Record<string, string> = {}): Promise<Record<string, string>> {
  const given = { DATA_DIR: dataDirectory(), ...environment };
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return given;
  const DATABASE_URL = await createDatabase(server);
  // Registered before the program is, so that it has ended by then.
  atEnd(() => dropDatabase(DATABASE_URL));
  return { DATABASE_URL, ENCRYPTION_KEY: "5".repeat(64), ...given };
}

/** Starts such a server by quickstart. */
export async function startServer(environment: Record<string, string> = {}, ...flags: string[]) {
  return quickstart(await settingsOfServer(environment), ...flags);
}
