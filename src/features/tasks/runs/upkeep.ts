import { and, asc, gt, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import { isBefore } from "../../../db/fragments.ts";
import { isNotHeld } from "../../../db/held.ts";
import { jobs, scheduledTasks, taskRuns } from "../../../db/schema.ts";
import type { OldRows } from "../../../jobs/old-rows.ts";
import type { RetainedRows } from "../../../jobs/retained-rows.ts";
import { fateOf } from "../../turns/index.ts";
import { endRun } from "./end.ts";
import { endingOf } from "./run.ts";
import { isOpen, runJob, selectRuns } from "./store.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];

/** The most rows of one statement. */
const batchSize = 1_000;

/** Upkeep of runs, once a minute: ends runs that have no job. */
export function createUpkeep(services: Services): () => Promise<void> {
  return every(services.clock, minuteMs, async () => {
    await endStranded(services);
    return true;
  });
}

/**
 * Ends open runs that have no job and do not wait for approval. The run's turns show how it ended. A run without a
 * finished turn failed with its job, mostly because its process died repeatedly.
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

/** A finished run that is not the last one of its task, and whose conversation is not under legal hold. */
const isOver = sql`not ${isOpen} and ${isNotHeld("ref", taskRuns.conversationRef)} and exists (
  select 1 from ${taskRuns} ${newer} where ${newer.taskId} = ${taskRuns.taskId} and ${newer.dueAt} > ${taskRuns.dueAt})`;

/** Finished runs, except the last one of each task. */
export const oldRuns: OldRows = { table: taskRuns, since: taskRuns.createdAt, afterMs: 90 * dayMs, where: isOver };

/** Runs age from their planned time. */
export const retainedRuns: RetainedRows = {
  subject: "task_runs",
  table: taskRuns,
  along: scheduledTasks.createdAt,
  parentId: taskRuns.taskId,
  isOld: ({ before }) => sql`${isBefore(taskRuns.dueAt, before)} and ${isOver}`,
};
