import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../context/ctx.ts";
import { every } from "../core/time/every.ts";
import { column } from "../db/fragments.ts";
import { jobs } from "../db/schema.ts";
import { statement, type Values } from "../db/statement.ts";
import { unlessWaiting } from "./enqueue.ts";

/** How often the scheduler looks for due work (spec "Limits": Room scheduler tick). */
export const tickMs = 30_000;

/** How early or late a tick may be. */
const slackMs = 5_000;

const dueTypes = { now: "timestamptz", horizon: "timestamptz" } as const;

/**
 * Selects the work of one feature that becomes due before `horizon`: rows of kind, key, organization id, payload and
 * due time. It must use an index, since every process runs it every 30 seconds.
 */
export type DueWork = (at: Values<typeof dueTypes>) => SQL;

export interface Schedule {
  /** Enqueues work that is due before the next tick. Does nothing within 30 seconds after the last tick. */
  tick(): Promise<void>;
  /** When this process last looked for due work, in milliseconds since the epoch; null for never. */
  lastTickAt(): number | null;
}

type ScheduleServices = Pick<Services, "database" | "clock"> & { sources: readonly DueWork[]; wake(): void };

/** Enqueues work that becomes due by itself, in one statement for all sources. */
export function createSchedule({ database, clock, sources, wake }: ScheduleServices): Schedule {
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
 * Work that already waits or runs is not enqueued again: the columns are those of a job, so that `jobs_key` finds the
 * waiting job. All processes insert in the same order: each insert waits for another process's insert of the same key,
 * so different orders would deadlock.
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
