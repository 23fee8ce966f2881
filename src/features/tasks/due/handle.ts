import { and, eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { agents, scheduledTasks, taskRuns } from "../../../db/schema.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { hasOpenRun, queueRun, type RunRow } from "../runs/store.ts";
import { scheduleOf, type TaskRow } from "../settings/find.ts";
import { type DuePlan, planOf } from "./plan.ts";
import { enqueueSoon } from "./work.ts";

interface Dependencies {
  services: Services;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
}

/**
 * Enqueues the run of a due task, and records missed times, and sets the next time, all in one transaction: a job that
 * runs again, or on two replicas, finds nothing to do.
 */
export function handleDue({ services, wake }: Dependencies): JobHandler<{ taskId: string }> {
  const { database, clock, log } = services;
  return async ({ payload: { taskId } }) => {
    const nextRunAt = await unlessDeadlocked(() =>
      database.transaction(async (tx) => {
        const now = new Date(clock.now());
        const due = await lockDue(tx, taskId, now);
        return due && settleDue(tx, due, now, log);
      }),
    );
    if (nextRunAt === null) return;
    wake();
    if (nextRunAt) wake(nextRunAt.getTime());
  };
}

type LockedTask = NonNullable<Awaited<ReturnType<typeof lockDue>>>;

/** The task with its agent's slug; null when it is no longer due. */
async function lockDue(tx: Db, taskId: string, now: Date) {
  const [found] = await tx
    .select({ task: scheduledTasks, slug: agents.slug })
    .from(scheduledTasks)
    .innerJoin(agents, and(eq(agents.id, scheduledTasks.agentId), eq(agents.active, true)))
    .where(eq(scheduledTasks.id, taskId))
    .for("no key update", { of: scheduledTasks });
  const dueAt = found?.task.enabled ? found.task.nextRunAt : null;
  return found && dueAt && dueAt <= now ? { ...found, dueAt } : null;
}

/** Returns the next time; undefined for none. */
async function settleDue(tx: Db, { task, slug, dueAt }: LockedTask, now: Date, log: Services["log"]) {
  const plan = readable(task, dueAt, now, log);
  const { run, missed, nextRunAt } = plan ?? { run: null, missed: [], nextRunAt: null };
  const passed = missed.map((time) => ({ ...time, status: "missed" as const, error: missedReason }));
  if (!plan)
    await record(
      tx,
      task,
      [{ dueAt, status: "failed", error: "The schedule can't be read any more: set it anew" }],
      now,
    );
  if (run && (await hasOpenRun(tx, task.id))) {
    await record(
      tx,
      task,
      [...passed, { dueAt: run.dueAt, status: "skipped", error: "An earlier run had not ended" }],
      now,
    );
  } else {
    await record(tx, task, passed, now);
    if (run) await queueRun(tx, { ...run, task, slug, now });
  }
  await tx.update(scheduledTasks).set({ nextRunAt }).where(eq(scheduledTasks.id, task.id));
  await enqueueSoon(tx, { ...task, nextRunAt }, now);
  return nextRunAt ?? undefined;
}

const missedReason = "Nothing could run at that time: no server ran, or the agent was inactive";

/** The plan; null for a schedule that this runtime can't read. */
function readable(task: TaskRow, dueAt: Date, now: Date, log: Services["log"]): DuePlan | null {
  try {
    return planOf({ ...task, schedule: scheduleOf(task), dueAt }, now);
  } catch (err) {
    log.error({ taskId: task.id, err }, "The schedule of a task can't be read");
    return null;
  }
}

type NotRun = Pick<RunRow, "dueAt" | "status" | "error"> & { alsoMissed?: number };

/** Stores runs that were skipped. */
async function record(
  tx: Db,
  { id, agentId, organizationId }: TaskRow,
  runs: readonly NotRun[],
  now: Date,
): Promise<void> {
  if (runs.length === 0) return;
  const own = { taskId: id, agentId, organizationId, triggerType: "schedule", createdAt: now } as const;
  const rows = runs.map((run) => ({ ...own, ...run, id: newId() }));
  // A manual run may have the same planned time.
  await tx.insert(taskRuns).values(rows).onConflictDoNothing();
}
