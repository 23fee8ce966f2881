import { and, asc, eq, isNull, not, notExists, sql } from "drizzle-orm";
import type { SubjectKey } from "../../../core/channels/subjects.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { scheduledTasks, taskRuns } from "../../../db/schema.ts";
import { closestCronRuns } from "../cron.ts";
import { isOpen } from "../runs/store.ts";
import type { Schedule } from "../schedule.ts";

// The tasks that an agent makes by its tool, and their limits (decisions §14, "Tasks of people").

/** The most tasks of an agent. */
export const mostTasks = 100;

/** The number of tasks that only people can add, by the API. */
const keptForApi = 20;

/** The most tasks of an agent for one end user. */
const mostOfPerson = 5;

/** The shortest time between runs of an end user's task, in milliseconds. */
const shortestOfPerson = 15 * 60_000;

/** The end user in whose turn an agent makes a task. */
export interface TaskPerson {
  subject: SubjectKey;
  /** Whether the turn is a run of a task: a task that makes the next task runs as often as the time between the two. */
  isRun: boolean;
}

/** Throws the 400 for a schedule that is more frequent than an end user's task may be. */
export function requireRare(schedule: Schedule, now: Date, { isRun }: Pick<TaskPerson, "isRun">): void {
  if (shortestTime(schedule, now, isRun) >= shortestOfPerson) return;
  const minutes = shortestOfPerson / 60_000;
  throw new EngineError("bad-request", `A task for a person runs at most every ${minutes} minutes: choose rarer times`);
}

/** The shortest time between two runs, in milliseconds. */
function shortestTime(schedule: Schedule, now: Date, isRun: boolean): number {
  if (schedule.type === "cron") return closestCronRuns(schedule.expression, schedule.timezone, now);
  if (schedule.type === "interval") return schedule.everyMs;
  return isRun ? Date.parse(schedule.runAt) - now.getTime() : Number.POSITIVE_INFINITY;
}

const run = (db: Db) =>
  db
    .select({ id: taskRuns.id })
    .from(taskRuns)
    .where(and(eq(taskRuns.taskId, scheduledTasks.id), isOpen));

/** Whether a task was for a time that is past, and its run has ended. */
const isOver = (db: Db) =>
  and(
    sql`${scheduledTasks.schedule} ->> 'type' = 'one-shot'`,
    ...[eq(scheduledTasks.enabled, true), isNull(scheduledTasks.nextRunAt), notExists(run(db))],
  );

const ofAgent = (agentId: string) => and(eq(scheduledTasks.agentId, agentId), eq(scheduledTasks.source, "agent"));

/** The number of an agent's tasks. */
export const countTasks = (db: Db, agentId: string): Promise<number> =>
  db.$count(scheduledTasks, eq(scheduledTasks.agentId, agentId));

/** The refusal of one more task, by the limit of tasks that the agent made or by that of all; null while there is room. */
export async function lackOfRoom(db: Db, agentId: string, source: "api" | "agent"): Promise<EngineError | null> {
  const mostOfAgent = mostTasks - keptForApi;
  if (source === "agent" && (await db.$count(scheduledTasks, ofAgent(agentId))) >= mostOfAgent) {
    const message = `An agent makes at most ${mostOfAgent} scheduled tasks itself: one has to end, or an operator to delete one`;
    return new EngineError("conflict", message);
  }
  if ((await countTasks(db, agentId)) < mostTasks) return null;
  return new EngineError("conflict", `An agent has at most ${mostTasks} scheduled tasks: delete one first`);
}

/** The oldest finished task that the agent made, for a `delete` statement. */
export const oldestOver = (db: Db, agentId: string) =>
  db
    .select({ id: scheduledTasks.id })
    .from(scheduledTasks)
    .where(and(ofAgent(agentId), isOver(db)))
    .orderBy(asc(scheduledTasks.createdAt), asc(scheduledTasks.id))
    .limit(1);

/** Throws the 409 when an end user has the most tasks of an agent. Finished tasks don't count. */
export async function requireShare(db: Db, agentId: string, subject: SubjectKey): Promise<void> {
  const over = isOver(db);
  const theirs = and(ofAgent(agentId), eq(scheduledTasks.subject, subject), over && not(over));
  if ((await db.$count(scheduledTasks, theirs)) < mostOfPerson) return;
  const message = `This person has ${mostOfPerson} tasks already, which is the most: one has to end, or an operator to delete one`;
  throw new EngineError("conflict", message);
}
