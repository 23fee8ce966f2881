import { createDatabase, dropDatabase } from "../real-postgres.ts";
import { atEnd, dataDirectory, quickstart } from "../runtime/program.ts";

/**
 * Starts a server for a page's test by quickstart. With `TEST_DATABASE_URL` its database is on that PostgreSQL: the page
 * is the same, and the start takes half as long.
 */
export async function startServer(environment: Record<string, string> = {}) {
  const given = { DATA_DIR: dataDirectory(), ...environment };
  const server = process.env.TEST_DATABASE_URL;
  if (!server) return quickstart(given);
  const DATABASE_URL = await createDatabase(server);
  // Registered before the program is, so that it has ended by then.
  atEnd(() => dropDatabase(DATABASE_URL));
  return quickstart({ DATABASE_URL, ENCRYPTION_KEY: "5".repeat(64), ...given });
}
