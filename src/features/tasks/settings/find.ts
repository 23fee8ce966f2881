import { and, asc, desc, eq, sql } from "drizzle-orm";
import { shownSubject } from "../../../core/channels/subjects.ts";
import { notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { scheduledTasks, taskRuns } from "../../../db/schema.ts";
import { undeliveredOf } from "../../inbox/index.ts";
import type { Schedule } from "../schedule.ts";
import type { NewScheduledTask, ScheduledTask } from "./schema.ts";

export type TaskRow = typeof scheduledTasks.$inferSelect;

/** The stored schedule. */
export const scheduleOf = ({ schedule }: Pick<TaskRow, "schedule">) => schedule as Schedule;

/** Finds a task of an agent, and locks it until the transaction ends. Throws the 404. */
export async function lockTask(tx: Db, agentId: string, id: string): Promise<TaskRow> {
  const [row] = await tx
    .select()
    .from(scheduledTasks)
    .where(and(hasId(scheduledTasks.id, id), eq(scheduledTasks.agentId, agentId)))
    .for("no key update");
  if (!row) throw notFound("Scheduled task");
  return row;
}

/** Tasks with their newest runs. */
export function selectTasks(db: Db) {
  const last = db
    .select({
      status: taskRuns.status,
      error: taskRuns.error,
      conversationRef: taskRuns.conversationRef,
      at: sql<Date>`coalesce(${taskRuns.completedAt}, ${taskRuns.startedAt}, ${taskRuns.dueAt})`
        .mapWith(taskRuns.dueAt)
        .as("at"),
    })
    .from(taskRuns)
    .where(eq(taskRuns.taskId, scheduledTasks.id))
    .orderBy(desc(taskRuns.dueAt))
    .limit(1)
    .as("last");
  return db
    .select({ task: scheduledTasks, status: last.status, error: last.error, ref: last.conversationRef, at: last.at })
    .from(scheduledTasks)
    .leftJoinLateral(last, sql`true`);
}

/** The tasks of an agent that people made, oldest first. */
export function tasksOfPeople(db: Db, agentId: string): Promise<TaskRow[]> {
  return db
    .select()
    .from(scheduledTasks)
    .where(and(eq(scheduledTasks.agentId, agentId), eq(scheduledTasks.source, "api")))
    .orderBy(asc(scheduledTasks.createdAt), asc(scheduledTasks.id));
}

/** The fields of a task that callers can set. */
export function configurationOf(task: TaskRow): NewScheduledTask {
  const { name, prompt, enabled, deleteAfterRun, maxRetries, onMissed, outboundTarget } = task;
  const outboundChannel = task.outboundChannel as NewScheduledTask["outboundChannel"];
  const timed = { schedule: scheduleOf(task), enabled, deleteAfterRun, maxRetries, onMissed };
  return { name, prompt, ...timed, outboundChannel, outboundTarget };
}

type SelectedTask = Awaited<ReturnType<typeof selectTasks>>[number];

/** Tasks of an agent in their API form, with the reasons why the results of their newest runs were not delivered. */
export async function showTasks(db: Db, agentId: string, rows: readonly SelectedTask[]): Promise<ScheduledTask[]> {
  const refs = rows.map(({ ref }) => ref);
  const undelivered = await undeliveredOf(db, agentId, refs);
  return rows.map((row) => toTask(row, undelivered.get(row.ref ?? "")));
}

/** A task in its API form. */
export function toTask({ task, status, at, error }: SelectedTask, undelivered?: string): ScheduledTask {
  const { id, name, prompt, enabled, deleteAfterRun, maxRetries, onMissed, outboundTarget, source, userName } = task;
  return {
    id,
    name,
    prompt,
    schedule: scheduleOf(task),
    enabled,
    deleteAfterRun,
    maxRetries,
    onMissed,
    outboundChannel: task.outboundChannel as ScheduledTask["outboundChannel"],
    outboundTarget,
    source,
    ...shownSubject(task.subject),
    userName,
    nextRunAt: task.nextRunAt?.toISOString() ?? null,
    lastRun: status && at ? { status, at: at.toISOString(), error: error ?? undelivered ?? null } : null,
    createdAt: task.createdAt.toISOString(),
    updatedAt: task.updatedAt.toISOString(),
  };
}
