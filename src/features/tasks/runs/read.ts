import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { actingAgent, agents, scheduledTasks, taskRuns } from "../../../db/schema.ts";
import { isOpen } from "./store.ts";

/** A run that has not ended, with its task and the slug of its agent. */
export type OpenRun = NonNullable<Awaited<ReturnType<typeof readOpenRun>>>;

/** Null for a run that has ended, or whose task is gone. */
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
