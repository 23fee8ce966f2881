import { sql } from "drizzle-orm";
import type { Database } from "./client.ts";
import { statement } from "./statement.ts";

/**
 * A table is vacuumed once it has `leastDead` dead rows plus `deadPart` of its live ones: early, so that a vacuum is
 * short. A thousand dead rows take some 20 ms.
 */
const [leastDead, deadPart] = [1_000, 0.1];

/** At this multiple of the threshold the vacuum no longer waits for a quiet moment. */
const overdue = 4;

interface Worn {
  /** The quoted name. */
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
 * Vacuums tables with many dead rows in the embedded database, which does not do so itself. Each vacuum waits for a
 * quiet moment, unless `overdue`.
 */
export async function vacuumWorn(database: Database, isQuiet: () => boolean): Promise<void> {
  for (const { name, overdue } of await findWorn.run(database, {})) {
    if (overdue || isQuiet()) await database.query(`vacuum ${name}`, []);
  }
}
