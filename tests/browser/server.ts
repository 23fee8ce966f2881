import { createDatabase, dropDatabase } from "../real-postgres.ts";
import { atEnd, dataDirectory, quickstart } from "../runtime/program.ts";

/**
 * Starts a server by quickstart for a test whose subject is not the database, such as a page's. With `TEST_DATABASE_URL`
 * the database is on that PostgreSQL: the start takes half as long.
 */
export async function startServer(environment: Record<string, string> = {}, ...flags: string[]) {
  const given = { DATA_DIR: dataDirectory(), ...environment };
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return quickstart(given, ...flags);
  const DATABASE_URL = await createDatabase(server);
  // Registered before the program is, so that it has ended by then.
  atEnd(() => dropDatabase(DATABASE_URL));
  return quickstart({ DATABASE_URL, ENCRYPTION_KEY: "5".repeat(64), ...given }, ...flags);
}
