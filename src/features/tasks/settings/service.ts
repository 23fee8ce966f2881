import { and, asc, eq, inArray, sql } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { sameJson } from "../../../core/json.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { scheduledTasks } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import { type AgentRow, findAgent, writeAgent } from "../../agents/index.ts";
import { changedPlace } from "../../inbox/index.ts";
import { enqueueSoon } from "../due/work.ts";
import { nextRun, type Schedule, scheduleProblem } from "../schedule.ts";
import { configurationOf, lockTask, scheduleOf, selectTasks, showTasks, type TaskRow } from "./find.ts";
import type {
  NewScheduledTask,
  ScheduledTask,
  ScheduledTaskChanges,
  ScheduledTaskPage,
  ScheduledTaskQuery,
} from "./schema.ts";
import { countTasks, lackOfRoom, mostTasks, oldestOver, requireRare, requireShare, type TaskPerson } from "./shares.ts";

/** A page of an agent's tasks, oldest first. Throws the 404 of the agent. */
export async function listTasks(ctx: Ctx, slug: string, query: ScheduledTaskQuery): Promise<ScheduledTaskPage> {
  const { limit = mostTasks, offset = 0 } = query;
  const { id } = await findAgent(ctx, slug);
  const rows = await selectTasks(ctx.db)
    .where(eq(scheduledTasks.agentId, id))
    .orderBy(asc(scheduledTasks.createdAt), asc(scheduledTasks.id))
    .limit(limit)
    .offset(offset);
  return { scheduledTasks: await showTasks(ctx.db, id, rows), total: await countTasks(ctx.db, id), limit, offset };
}

/** Throws the 404 of agent and task. */
export async function getTask(ctx: Ctx, slug: string, id: string): Promise<ScheduledTask> {
  const agent = await findAgent(ctx, slug);
  const [row] = await selectTasks(ctx.db).where(
    and(hasId(scheduledTasks.id, id), eq(scheduledTasks.agentId, agent.id)),
  );
  const [task] = row ? await showTasks(ctx.db, agent.id, [row]) : [];
  if (!task) throw notFound("Scheduled task");
  return task;
}

/** The end user for whom a task was made, and who made it. */
export type TaskOrigin = Pick<TaskRow, "source" | "subject" | "userName">;

/** The origin of a task that people made. */
export const ofApi: TaskOrigin = { source: "api", subject: "", userName: null };

/**
 * Creates a task. A task that the agent makes counts as one of the end user `person`. Throws the 404 of the agent; 400
 * for an impossible schedule, one that is more frequent than an end user's may be, and an invalid destination; 409 when
 * the person or the agent has the most tasks and none can be deleted.
 */
export async function createTask(
  ctx: Ctx,
  slug: string,
  input: NewScheduledTask,
  origin: TaskOrigin = ofApi,
  person: TaskPerson | null = null,
): Promise<ScheduledTask> {
  const now = new Date(ctx.clock.now());
  requireSchedule(input.schedule, now);
  if (person) requireRare(input.schedule, now, person);
  const id = newId();
  const summary = { taskId: id, name: input.name, schedule: input.schedule };
  await writeAgent(ctx, slug, { action: "agent.task.create", agentUnchanged: true, summary }, async (tx, agent) => {
    if (person) await requireShare(tx, agent.id, person.subject);
    const full = await lackOfRoom(tx, agent.id, origin.source);
    if (full && !(await makeRoom(tx, ctx, agent))) throw full;
    await insertTask(tx, ctx, agent, { ...input, ...origin, id }, now);
  });
  return getTask(ctx, slug, id);
}

/**
 * Stores a task whose schedule is valid at `now`, in a transaction of `writeAgent`. Its times count from `now`, even if
 * the transaction waited: a run whose time has come is due at once. Returns the next due time.
 */
export async function insertTask(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  input: NewScheduledTask & TaskOrigin & { id: string },
  now: Date,
): Promise<Date | null> {
  const author = authorOf(ctx);
  const timed = { ...input, anchorAt: now };
  const row = { ...timed, ...changedPlace(input), nextRunAt: nextRunAt(timed, now) };
  const owned = { agentId: agent.id, organizationId: agent.organizationId };
  await tx.insert(scheduledTasks).values({ ...row, ...owned, createdBy: author, updatedBy: author });
  await enqueueSoon(tx, { ...row, ...owned }, now);
  return row.nextRunAt;
}

/**
 * Changes the given fields. The times of a new schedule, and of a task that is turned on again, count from now on.
 * Throws the 404 of agent and task, and 400 as `createTask` does.
 */
export async function updateTask(
  ctx: Ctx,
  slug: string,
  id: string,
  changes: ScheduledTaskChanges,
): Promise<ScheduledTask> {
  const changed: Changes = {};
  const now = new Date(ctx.clock.now());
  const change = { action: "agent.task.update", agentUnchanged: true, summary: { taskId: id }, changes: changed };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const stored = await lockTask(tx, agent.id, id);
    requireTimes(stored, changes, now);
    const updated = await changeTask(tx, ctx, stored, changes, now);
    Object.assign(changed, changesBetween(configurationOf(stored), configurationOf(updated)));
  });
  return getTask(ctx, slug, id);
}

/** Changes a locked task whose schedule is valid at `now`, with times as in `insertTask`. */
export async function changeTask(
  tx: Db,
  ctx: Ctx,
  stored: TaskRow,
  changes: ScheduledTaskChanges,
  now: Date,
): Promise<TaskRow> {
  const columns = { ...changes, ...changedPlace(changes, stored), ...timesOf(stored, changes, now) };
  const authored = { updatedBy: authorOf(ctx), updatedAt: sql`now()` };
  const [updated] = await tx
    .update(scheduledTasks)
    .set({ ...columns, ...authored })
    .where(eq(scheduledTasks.id, stored.id))
    .returning();
  if (!updated) throw notFound("Scheduled task");
  await enqueueSoon(tx, updated, now);
  return updated;
}

const isOther = (stored: TaskRow, schedule: ScheduledTaskChanges["schedule"]) =>
  schedule !== undefined && !sameJson(schedule, scheduleOf(stored));

/** Throws the 400 for an impossible schedule that is new, or whose task is turned on. */
function requireTimes(stored: TaskRow, { schedule, enabled = stored.enabled }: ScheduledTaskChanges, now: Date): void {
  const turnedOn = enabled && !stored.enabled;
  if (isOther(stored, schedule) || turnedOn) requireSchedule(schedule ?? scheduleOf(stored), now);
}

/** The columns that a new schedule changes, and turning the task on or off. */
function timesOf(stored: TaskRow, { schedule, enabled = stored.enabled }: ScheduledTaskChanges, now: Date) {
  const other = isOther(stored, schedule);
  if (!other && enabled === stored.enabled) return {};
  const anchorAt = other ? now : stored.anchorAt;
  const timed = { schedule: schedule ?? scheduleOf(stored), enabled, anchorAt };
  return { anchorAt: timed.anchorAt, nextRunAt: nextRunAt(timed, now) };
}

/** Deletes a task with its runs. The conversations stay, and a started run goes on. Throws the 404. */
export async function deleteTask(ctx: Ctx, slug: string, id: string): Promise<void> {
  const summary: Record<string, unknown> = { taskId: id };
  await writeAgent(ctx, slug, { action: "agent.task.delete", agentUnchanged: true, summary }, async (tx, agent) => {
    const { name } = await lockTask(tx, agent.id, id);
    Object.assign(summary, { name });
    await tx.delete(scheduledTasks).where(eq(scheduledTasks.id, id));
  });
}

/**
 * Deletes the oldest task that the agent made for a time that is now past. Such a task, whose run failed or was
 * skipped, stays visible until the limit of tasks is reached. Returns false when there is none.
 */
async function makeRoom(tx: Db, { actor, request }: Ctx, { id: agentId, slug, organizationId }: AgentRow) {
  const [gone] = await tx
    .delete(scheduledTasks)
    .where(inArray(scheduledTasks.id, oldestOver(tx, agentId)))
    .returning({ taskId: scheduledTasks.id, name: scheduledTasks.name });
  if (!gone) return false;
  const event = { action: "agent.task.delete", target: slug, agentId, organizationId, summary: gone };
  await audit(tx, { ...event, actor, request });
  return true;
}

/** The data that decide a task's next time: its schedule, whether it is on, and the start of its interval. */
interface TimedTask {
  schedule: Schedule;
  enabled: boolean;
  anchorAt: Date;
}

/** When the task is due next; null for never, and while it is off. */
function nextRunAt({ schedule, enabled, anchorAt }: TimedTask, now: Date): Date | null {
  return enabled ? nextRun(schedule, now, anchorAt) : null;
}

/** The field of each kind of schedule that contains its times. */
const timeFields = { cron: "expression", interval: "everyMs", "one-shot": "runAt" } as const;

/** Throws the 400 for an impossible schedule. */
function requireSchedule(schedule: Schedule, now: Date): void {
  const message = scheduleProblem(schedule, now);
  if (message) throw invalid([{ path: ["schedule", timeFields[schedule.type]], message }]);
}
