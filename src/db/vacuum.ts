import { sql } from "drizzle-orm";
import type { Database } from "./client.ts";
import { statement } from "./statement.ts";

/**
 * A table is vacuumed once it has so many dead rows and this part of its rows is dead. That is early, so that no vacuum
 * takes long: a thousand dead rows take some 20 ms.
 */
const [leastDead, deadPart] = [1_000, 0.1];

/** With so many times as many it does not wait for a quiet moment any more. */
const overdue = 4;

interface Worn {
  /** Quoted. */
  name: string;
  overdue: boolean;
}

const findWorn = statement({}, () => {
  const dead = sql`pg_stat_get_dead_tuples(c.oid)`;
  const due = sql`${leastDead} + ${deadPart} * pg_stat_get_live_tuples(c.oid)`;
  return sql<Worn>`
    select c.oid::regclass::text as name, ${dead} > ${overdue} * (${due}) as overdue from pg_class c
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and ${dead} > ${due} order by ${dead} desc`;
});

/**
 * Vacuums tables with many dead rows, for a database that does not by itself, as the embedded one. Each table waits for a
 * moment that is quiet, but not for ever.
 */
export async function vacuumWorn(database: Database, isQuiet: () => boolean): Promise<void> {
  for (const { name, overdue } of await findWorn.run(database, {})) {
    if (overdue || isQuiet()) await database.query(`vacuum ${name}`, []);
  }
}
