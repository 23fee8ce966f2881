import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../context/ctx.ts";
import { every } from "../core/time/every.ts";
import { column } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";
import { statement, type Values } from "../db/statement.ts";
import { unlessWaiting } from "./enqueue.ts";

/** How often the scheduler looks for due work (spec "Limits": Room scheduler tick). */
export const tickMs = 30_000;

/** How much too early or too late a tick may come. */
const slackMs = 5_000;

const dueTypes = { now: "timestamptz", horizon: "timestamptz" } as const;

/**
 * Selects work that falls due by itself, without anybody's call, until `horizon`: rows of kind, key, organization id,
 * payload and the time at which it is due. It must use an index, since every process asks every 30 seconds.
 */
export type DueWork = (at: Values<typeof dueTypes>) => SQL;

export interface Schedule {
  /** Enqueues what falls due before the next tick. Nothing happens where the last tick was less than 30 seconds ago. */
  tick(): Promise<void>;
  /** When this process looked for due work the last time, in milliseconds since the epoch; null for never. */
  lastTickAt(): number | null;
}

type Needs = Pick<Services, "database" | "clock"> & { sources: readonly DueWork[]; wake(): void };

/** Makes jobs of the work that falls due by itself, in one statement for all sources. */
export function createSchedule({ database, clock, sources, wake }: Needs): Schedule {
  const enqueueDue = dueStatement(sources);
  let lastTickAt: number | null = null;
  return {
    lastTickAt: () => lastTickAt,
    tick: every(clock, tickMs - slackMs, async (now) => {
      const horizon = new Date(now + tickMs + slackMs);
      const enqueued = await enqueueDue.run(database, { now: new Date(now), horizon });
      lastTickAt = now;
      if (enqueued.length > 0) wake();
      return true;
    }),
  };
}

/**
 * Work that waits or runs is not enqueued again. The columns are those of a job, so that `jobs_key` finds what waits. All
 * processes insert in the same order: each waits for what another one inserts of the same key, and in different orders
 * they would wait for each other.
 */
function dueStatement(sources: readonly DueWork[]) {
  const { id, kind, key, organizationId, payload, runAt, maxAttempts } = jobs;
  const names = [id, kind, key, organizationId, payload, runAt, maxAttempts].map(column);
  return statement(dueTypes, (at) => {
    const due = sql.join(
      sources.map((source) => source(at)),
      sql` union all `,
    );
    return sql<{ kind: string }>`
      insert into ${jobs} (${sql.join(names, sql`, `)})
      select gen_random_uuid(), due.kind, due.key, due.organization_id, due.payload, due.run_at, 10
      from (${due}) due(kind, key, organization_id, payload, run_at)
      where not exists (
        select from ${jobs} where ${jobs.kind} = due.kind and ${jobs.key} = due.key and ${jobs.lockedUntil} > '-infinity'
      )
      order by due.kind, due.key
      ${unlessWaiting}
      returning ${column(kind)}`;
  });
}
