import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { fields, type RowOf } from "../../../db/fragments.ts";
import { jobs, rooms } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

/** Counts of waiting and stuck work, of all agents. */
export interface WaitingWork {
  /** Entries of backlogs with the status `pending`. */
  pending: number;
  /** Jobs whose lease ended over a minute ago: no process has claimed them since. */
  stuckRuns: number;
}

/** `kinds` are those of the jobs that take turns which nobody asked for in person. */
export async function readWork(
  { database, clock }: Pick<Services, "database" | "clock">,
  kinds: readonly string[],
): Promise<WaitingWork> {
  const [work] = await workStatement.run(database, { now: new Date(clock.now()), kinds });
  if (!work) throw new Error("The statement answered no row");
  return work;
}

const workStatement = statement({ now: "timestamptz", kinds: "text[]" }, ({ now, kinds }) => {
  const isOwnWork = sql`${jobs.kind} = any(${kinds})`;
  const hung = sql`select count(*) from ${jobs} where ${isOwnWork} and ${jobs.lockedUntil} < ${now} - interval '1 minute'`;
  const waiting = sql`select coalesce(sum(${rooms.pendingCount}), 0) from ${rooms} where ${rooms.pendingCount} > 0`;
  const row = fields({
    pending: sql<number>`(${waiting})::float8`,
    stuckRuns: sql<number>`(${hung})::float8`,
  });
  return sql<RowOf<typeof row>>`select ${row}`;
});
