import { inArray } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { ImportNotes } from "../../../core/bundle.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { asJson, sameJson } from "../../../core/json.ts";
import { sortByName, takeNamed } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { scheduledTasks } from "../../../db/schema.ts";
import { invalid } from "../../../http/errors.ts";
import type { AgentRow } from "../../agents/index.ts";
import { type Schedule, scheduleProblem } from "../schedule.ts";
import { configurationOf, lockTask, tasksOfPeople } from "./find.ts";
import type { NewScheduledTask } from "./schema.ts";
import { changeTask, insertTask, ofApi } from "./service.ts";
import { countTasks, mostTasks } from "./shares.ts";

/** The tasks that people made, by name, for a bundle. The tasks that an agent made belong to its end users. */
export async function exportTasks(db: Db, agentId: string): Promise<NewScheduledTask[]> {
  return sortByName(await tasksOfPeople(db, agentId)).map(configurationOf);
}

/**
 * Gives an agent exactly these tasks, besides those that it made itself, in a transaction of `writeAgent`. A stored
 * task of the same name stays, with its runs. Throws 400 for an impossible schedule, 409 for too many tasks.
 */
export async function importTasks(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly NewScheduledTask[],
  notes: ImportNotes,
): Promise<void> {
  const now = new Date(ctx.clock.now());
  checkSchedules(wanted, now, notes);
  const stored = await tasksOfPeople(tx, agent.id);
  const matched = wanted.map((task) => ({ task, row: takeNamed(stored, task.name) }));
  // The names that are left are not in the bundle.
  if (stored.length > 0) {
    await tx.delete(scheduledTasks).where(
      inArray(
        scheduledTasks.id,
        stored.map(({ id }) => id),
      ),
    );
  }
  for (const { task, row } of matched) {
    if (row && sameJson(asJson(configurationOf(row)), asJson(task))) continue;
    if (row) notes.due((await changeTask(tx, ctx, await lockTask(tx, agent.id, row.id), task, now)).nextRunAt);
    else notes.due(await insertTask(tx, ctx, agent, { ...task, ...ofApi, id: newId() }, now));
  }
  if ((await countTasks(tx, agent.id)) <= mostTasks) return;
  throw new EngineError(
    "conflict",
    `An agent has at most ${mostTasks} scheduled tasks, those that it made itself among them`,
  );
}

/** Warns of past dates in a file: such a task is imported, but never runs again. */
function checkSchedules(wanted: readonly NewScheduledTask[], now: Date, notes: ImportNotes): void {
  const issues = wanted.flatMap(({ name, schedule }, index) => {
    const path = ["instance", "scheduledTasks", index, "schedule"];
    if (isPast(schedule, now)) {
      notes.warn("schedule_past", path, `The time of ${name} has passed: it does not run by itself`);
      return [];
    }
    const message = scheduleProblem(schedule, now);
    return message === null ? [] : [{ path, message }];
  });
  if (issues.length > 0) throw invalid(issues);
}

const isPast = (schedule: Schedule, now: Date) =>
  schedule.type === "one-shot" && Date.parse(schedule.runAt) <= now.getTime();
