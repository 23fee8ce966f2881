import { z } from "@hono/zod-openapi";
import { and, eq, sql } from "drizzle-orm";
import { isUuid, newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { actingAgent, agents, scheduledTasks, taskRuns } from "../../../db/schema.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";

/** Runs a task once. */
export const runJob = defineJob("task.run", z.object({ runId: z.uuid() }), ({ runId }) => runId);

export type RunRow = typeof taskRuns.$inferSelect;

interface RunOf {
  task: { id: string; agentId: string; organizationId: string };
  /** The slug of the task's agent. */
  slug: string;
  dueAt: Date;
  triggerType: RunRow["triggerType"];
  now: Date;
}

/**
 * Stores a run and enqueues its job; returns the run's id. Call it with the task locked. If the task has a run at the
 * planned time, this one gets the next free millisecond, so that each run has its own conversation.
 */
export async function queueRun(tx: Db, { task, slug, triggerType, now, ...planned }: RunOf): Promise<string> {
  const { id: taskId, agentId, organizationId } = task;
  const row = { id: newId(), taskId, agentId, organizationId, triggerType, status: "queued", createdAt: now } as const;
  for (let ms = planned.dueAt.getTime(); ; ms += 1) {
    const dueAt = new Date(ms);
    const placed = { ...row, dueAt, conversationRef: refOf(slug, { taskId, dueAt }) };
    const made = await tx.insert(taskRuns).values(placed).onConflictDoNothing().returning({ id: taskRuns.id });
    if (made.length > 0) break;
  }
  await enqueue(tx, runJob.of({ runId: row.id }), { organizationId });
  return row.id;
}

/** Whether the task has an open run. */
export async function hasOpenRun(tx: Db, taskId: string): Promise<boolean> {
  const [open] = await tx
    .select({ id: taskRuns.id })
    .from(taskRuns)
    .where(and(eq(taskRuns.taskId, taskId), isOpen))
    .limit(1);
  return open !== undefined;
}

/** Whether a run is open. Written with literals, so that the planner uses its index. */
export const isOpen = sql`${taskRuns.status} in ('queued', 'running')`;

/** An open run, with its task and the slug of its agent. */
export type OpenRun = NonNullable<Awaited<ReturnType<typeof readOpenRun>>>;

/** Returns null for a run that has ended, or whose task was deleted. */
export async function readOpenRun(db: Db, runId: string) {
  const [found] = await selectRuns(db).where(and(eq(taskRuns.id, runId), isOpen));
  return found ?? null;
}

/** Runs with their tasks. */
export function selectRuns(db: Db) {
  return db
    .select({ run: taskRuns, task: scheduledTasks, slug: agents.slug, agent: actingAgent })
    .from(taskRuns)
    .innerJoin(scheduledTasks, eq(scheduledTasks.id, taskRuns.taskId))
    .innerJoin(agents, eq(agents.id, taskRuns.agentId));
}

/** The data in the id of a run's conversation: the task, and the planned time. */
interface PlannedRun {
  taskId: string;
  dueAt: Date;
}

/** The `channelId` of a run's conversation, `<taskId>:<ms>`. */
export const channelIdOf = ({ taskId, dueAt }: PlannedRun) => `${taskId}:${dueAt.getTime()}`;

/** The public id of a run's conversation (decisions §5). */
export const refOf = (slug: string, run: PlannedRun) => `${slug}:scheduled:${channelIdOf(run)}`;

/** Parses a `channelIdOf`; null for another text. */
export function plannedOf(channelId: string): PlannedRun | null {
  const [taskId = "", ms = ""] = channelId.split(":");
  return isUuid(taskId) && /^\d{1,15}$/.test(ms) ? { taskId, dueAt: new Date(Number(ms)) } : null;
}
