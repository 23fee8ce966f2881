import connect from "postgres";
import { withDatabase } from "../real-postgres.ts";

/** Copies a database of PostgreSQL that nobody is connected to; answers the copy's address. */
export async function copyDatabase(url: string, suffix: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const copy = `${name}_${suffix}`;
  const sql = connect(withDatabase(url, "postgres"), { max: 1 });
  await sql.unsafe(`create database ${copy} template ${name}`);
  await sql.end();
  return withDatabase(url, copy);
}
