import { desc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { taskRuns } from "../../../db/schema.ts";
import { writeAgent } from "../../agents/index.ts";
import { undeliveredOf } from "../../inbox/index.ts";
import { lockTask } from "../settings/find.ts";
import { getTask } from "../settings/service.ts";
import type { TaskRun, TaskRunPage, TaskRunQuery } from "./schema.ts";
import { hasOpenRun, queueRun, type RunRow } from "./store.ts";

/** A page of a task's runs, newest first. Throws the 404 of agent and task. */
export async function listRuns(ctx: Ctx, slug: string, id: string, query: TaskRunQuery): Promise<TaskRunPage> {
  const { limit = 20, offset = 0 } = query;
  const task = await getTask(ctx, slug, id);
  const own = eq(taskRuns.taskId, task.id);
  const rows = await ctx.db
    .select()
    .from(taskRuns)
    .where(own)
    .orderBy(desc(taskRuns.dueAt))
    .limit(limit)
    .offset(offset);
  const [first] = rows;
  const refs = rows.map(({ conversationRef }) => conversationRef);
  const undelivered = first ? await undeliveredOf(ctx.db, first.agentId, refs) : new Map<string, string>();
  const runs = rows.map((row) => toRun(row, undelivered.get(row.conversationRef ?? "")));
  return { runs, total: await ctx.db.$count(taskRuns, own), limit, offset };
}

/**
 * Runs a task now, regardless of its schedule and even while it is off; returns the run's id. Throws the 404 of agent
 * and task, and 409 while the agent is inactive or a run is open.
 */
export async function runNow(ctx: Ctx, slug: string, id: string): Promise<string> {
  const summary: Record<string, unknown> = { taskId: id };
  return writeAgent(ctx, slug, { action: "agent.task.run", agentUnchanged: true, summary }, async (tx, agent) => {
    const task = await lockTask(tx, agent.id, id);
    if (!agent.active) throw new EngineError("conflict", "The agent is inactive: activate it to run its tasks");
    if (await hasOpenRun(tx, task.id)) {
      throw new EngineError("conflict", "A run of the task has not ended: wait for it, or decide about its approval");
    }
    const now = new Date(ctx.clock.now());
    const runId = await queueRun(tx, { task, slug, dueAt: now, triggerType: "manual", now });
    Object.assign(summary, { name: task.name, runId });
    return runId;
  });
}

/** A run in its API form, with the reason why its result was not delivered. */
function toRun(
  { id, status, triggerType, attempts, alsoMissed, output, error, ...row }: RunRow,
  undelivered: string | undefined,
): TaskRun {
  const { dueAt, startedAt, completedAt } = row;
  return {
    id,
    status,
    triggerType,
    dueAt: dueAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    completedAt: completedAt?.toISOString() ?? null,
    durationMs: startedAt && completedAt ? Math.max(0, completedAt.getTime() - startedAt.getTime()) : null,
    attempts,
    alsoMissed,
    output,
    error: error ?? undelivered ?? null,
    conversationId: row.conversationRef,
  };
}
