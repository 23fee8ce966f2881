import { dropDatabases, startPostgres } from "./real-postgres.ts";

/** Starts the server of a run with `TEST_DIALECT=postgres`, unless `TEST_DATABASE_URL` names one. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Both projects of the engine call this, and share the databases.
  if (process.env.TEST_RUN) return undefined;
  process.env.TEST_RUN = crypto.randomUUID().slice(0, 8);
  if (process.env.TEST_DIALECT !== "postgres") return undefined;
  const given = process.env.TEST_DATABASE_URL;
  if (given) return () => dropDatabases(given);
  const server = await startPostgres();
  if (!server) throw new Error("There is no PostgreSQL for this platform in node_modules; set TEST_DATABASE_URL");
  process.env.TEST_DATABASE_URL = server.url;
  return () => server.stop();
}
