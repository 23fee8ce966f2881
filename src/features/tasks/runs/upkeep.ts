import { and, asc, gt, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context.ts";
import { every } from "../../../core/time/every.ts";
import { isPast } from "../../../db/age.ts";
import { jobs, taskRuns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { fateOf } from "../../turns/index.ts";
import { endRun } from "./end.ts";
import { selectRuns } from "./read.ts";
import { endingOf } from "./run.ts";
import { isOpen } from "./store.ts";
import { runJob } from "./work.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** How long runs are kept. */
const keptMs = 90 * dayMs;

/** Rows that one call looks at or deletes at most, so that no other upkeep waits for it. */
const batchSize = 1_000;

/** Upkeep of runs: ends those whose jobs are gone, once a minute, and deletes old ones, once an hour. */
export function createUpkeep(services: Services): (() => Promise<void>)[] {
  const { database, clock } = services;
  return [
    every(clock, minuteMs, async () => {
      await endStranded(services);
      return true;
    }),
    // While more are left than one batch, every call deletes a batch.
    every(clock, hourMs, async (now) => {
      const gone = await deleteOld.run(database, { now: new Date(now) });
      return gone.length < batchSize;
    }),
  ];
}

/**
 * A run that has not ended has a job, or waits for a person's decision. What became of it without a job stands in its
 * turns; one that no turn did failed with its job, mostly since its process died again and again.
 */
async function endStranded(services: Services): Promise<void> {
  const { database, log } = services;
  let last = "";
  for (;;) {
    const rows = await findStranded(services, last);
    for (const found of rows) {
      const { run } = found;
      const fate = await fateOf(database, run.conversationRef ?? "");
      if (fate.kind === "waiting" || fate.kind === "running") continue;
      const lost = { status: "failed", output: null, error: "It could not be run: the server's log says why" } as const;
      await endRun(services, found, endingOf(fate) ?? lost);
      log.warn({ runId: run.id, taskId: run.taskId, fate: fate.kind }, "A task's run was ended without its job");
    }
    if (rows.length < batchSize) return;
    last = rows.at(-1)?.run.id ?? "";
  }
}

function findStranded({ database: { db } }: Services, last: string) {
  const job = db
    .select({ found: sql`1` })
    .from(jobs)
    .where(sql`${jobs.kind} = ${runJob.kind} and ${jobs.key} = ${taskRuns.id}::text and ${jobs.status} = 'pending'`);
  return selectRuns(db)
    .where(and(isOpen, notExists(job), last === "" ? undefined : gt(taskRuns.id, last)))
    .orderBy(asc(taskRuns.id))
    .limit(batchSize);
}

const newer = alias(taskRuns, "newer");

/** Each task keeps its last run. Replicas may run it at the same time: each skips the rows that another one holds. */
const deleteOld = statement(
  { now: "timestamptz" },
  ({ now }) => sql<{ id: string }>`
    delete from ${taskRuns} where ${taskRuns.id} = any(array(
      select ${taskRuns.id} from ${taskRuns}
      where ${isPast(taskRuns.createdAt, now, keptMs)} and ${taskRuns.status} not in ('queued', 'running') and exists (
        select 1 from ${taskRuns} ${newer} where ${newer.taskId} = ${taskRuns.taskId} and ${newer.dueAt} > ${taskRuns.dueAt})
      order by ${taskRuns.createdAt} limit ${batchSize} for update of ${sql.identifier("task_runs")} skip locked))
    returning ${taskRuns.id}`,
);
