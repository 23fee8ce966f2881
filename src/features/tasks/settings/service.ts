import { and, asc, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { isUuid, newId } from "../../../core/ids.ts";
import { sameJson } from "../../../core/json.ts";
import type { Db } from "../../../db/client.ts";
import { scheduledTasks } from "../../../db/schema.ts";
import { findAgent, writeAgent } from "../../agents/index.ts";
import { enqueueSoon } from "../due/work.ts";
import { configurationOf, lockTask, scheduleOf, selectTasks, type TaskRow, toTask } from "./find.ts";
import { nextRunAt, requirePlace, requireSchedule } from "./rules.ts";
import {
  mostTasks,
  type NewScheduledTask,
  type ScheduledTask,
  type ScheduledTaskChanges,
  type ScheduledTaskPage,
  type ScheduledTaskQuery,
} from "./schema.ts";

/** A page of an agent's tasks, the oldest first. Throws the 404 of the agent. */
export async function listTasks(ctx: Ctx, slug: string, query: ScheduledTaskQuery): Promise<ScheduledTaskPage> {
  const { limit = mostTasks, offset = 0 } = query;
  const { id } = await findAgent(ctx, slug);
  const rows = await selectTasks(ctx.db)
    .where(eq(scheduledTasks.agentId, id))
    .orderBy(asc(scheduledTasks.createdAt), asc(scheduledTasks.id))
    .limit(limit)
    .offset(offset);
  return { scheduledTasks: rows.map(toTask), total: await count(ctx.db, id), limit, offset };
}

/** Throws the 404 of agent and task. */
export async function getTask(ctx: Ctx, slug: string, id: string): Promise<ScheduledTask> {
  const agent = await findAgent(ctx, slug);
  const [row] = isUuid(id)
    ? await selectTasks(ctx.db).where(and(eq(scheduledTasks.id, id), eq(scheduledTasks.agentId, agent.id)))
    : [];
  if (!row) throw notFound("Scheduled task");
  return toTask(row);
}

/** Whom a task is for, and who made it. */
export type TaskOrigin = Pick<TaskRow, "source" | "subject" | "userName">;

const ofApi: TaskOrigin = { source: "api", subject: "", userName: null };

/**
 * Creates a task. Throws the 404 of the agent; 400 for a schedule that can't be kept and for half a place; 409 when the
 * agent has as many as it can have.
 */
export async function createTask(
  ctx: Ctx,
  slug: string,
  input: NewScheduledTask,
  origin: TaskOrigin = ofApi,
): Promise<ScheduledTask> {
  const now = new Date(ctx.clock.now());
  requireSchedule(input.schedule, now);
  const place = placeOf(input);
  const id = newId();
  const summary = { taskId: id, name: input.name, schedule: input.schedule };
  await writeAgent(ctx, slug, { action: "agent.task.create", agentUnchanged: true, summary }, async (tx, agent) => {
    if ((await count(tx, agent.id)) >= mostTasks) {
      throw new EngineError("conflict", `An agent has at most ${mostTasks} scheduled tasks: delete one first`);
    }
    const author = authorOf(ctx);
    const timed = { ...input, anchorAt: now };
    const row = { ...timed, ...origin, ...place, id, nextRunAt: nextRunAt(timed, now) };
    const owned = { agentId: agent.id, organizationId: agent.organizationId };
    await tx.insert(scheduledTasks).values({ ...row, ...owned, createdBy: author, updatedBy: author });
    await enqueueSoon(tx, { ...row, ...owned }, now);
  });
  return getTask(ctx, slug, id);
}

/**
 * Changes the given fields. Another schedule counts from now on, and so does a task that is turned on again. Throws the
 * 404 of agent and task, and 400 as `createTask` does.
 */
export async function updateTask(
  ctx: Ctx,
  slug: string,
  id: string,
  changes: ScheduledTaskChanges,
): Promise<ScheduledTask> {
  const changed: Changes = {};
  const change = { action: "agent.task.update", agentUnchanged: true, summary: { taskId: id }, changes: changed };
  await writeAgent(ctx, slug, change, async (tx, agent) => {
    const stored = await lockTask(tx, agent.id, id);
    const now = new Date(ctx.clock.now());
    const columns = { ...changes, ...placeOf(changes, stored), ...timesOf(stored, changes, now) };
    const authored = { updatedBy: authorOf(ctx), updatedAt: sql`now()` };
    const [updated] = await tx
      .update(scheduledTasks)
      .set({ ...columns, ...authored })
      .where(eq(scheduledTasks.id, stored.id))
      .returning();
    if (!updated) throw notFound("Scheduled task");
    Object.assign(changed, changesBetween(configurationOf(stored), configurationOf(updated)));
    await enqueueSoon(tx, updated, now);
  });
  return getTask(ctx, slug, id);
}

/** The columns that change with another schedule, and with turning the task on or off. Throws the 400. */
function timesOf(stored: TaskRow, { schedule, enabled = stored.enabled }: ScheduledTaskChanges, now: Date) {
  const before = scheduleOf(stored);
  const isOther = schedule !== undefined && !sameJson(schedule, before);
  if (!isOther && enabled === stored.enabled) return {};
  const timed = { schedule: schedule ?? before, enabled, anchorAt: isOther ? now : stored.anchorAt };
  if (isOther || enabled) requireSchedule(timed.schedule, now);
  return { anchorAt: timed.anchorAt, nextRunAt: nextRunAt(timed, now) };
}

/** Deletes a task with its runs; the conversations stay, and so does a run that has begun. Throws the 404. */
export async function deleteTask(ctx: Ctx, slug: string, id: string): Promise<void> {
  const summary: Record<string, unknown> = { taskId: id };
  await writeAgent(ctx, slug, { action: "agent.task.delete", agentUnchanged: true, summary }, async (tx, agent) => {
    const { name } = await lockTask(tx, agent.id, id);
    Object.assign(summary, { name });
    await tx.delete(scheduledTasks).where(eq(scheduledTasks.id, id));
  });
}

async function count(db: Db, agentId: string): Promise<number> {
  return db.$count(scheduledTasks, eq(scheduledTasks.agentId, agentId));
}

type Place = Pick<TaskRow, "outboundChannel" | "outboundTarget">;

/** The place as it is with the changes; a blank target is none. Throws the 400. */
function placeOf(
  { outboundChannel, outboundTarget }: { [Field in keyof Place]?: Place[Field] | undefined },
  before: Place = nowhere,
): Place {
  const place = {
    outboundChannel: outboundChannel === undefined ? before.outboundChannel : outboundChannel,
    outboundTarget: outboundTarget === undefined ? before.outboundTarget : outboundTarget,
  };
  requirePlace(place);
  return place.outboundChannel === null ? nowhere : place;
}

const nowhere: Place = { outboundChannel: null, outboundTarget: null };
