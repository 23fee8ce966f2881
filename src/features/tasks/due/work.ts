import { z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { agents, scheduledTasks } from "../../../db/schema.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import type { DueWork } from "../../../jobs/schedule.ts";
import { tickMs } from "../../../jobs/schedule.ts";

/** Handles the due times of a task. */
export const dueJob = defineJob("task.due", z.object({ taskId: z.uuid() }), ({ taskId }) => taskId);

/** The tasks of active agents that are due before the horizon. */
export const dueTasks: DueWork = ({ horizon }) => sql`
  select ${dueJob.kind}, ${scheduledTasks.id}::text, ${scheduledTasks.organizationId},
    jsonb_build_object('taskId', ${scheduledTasks.id}), ${scheduledTasks.nextRunAt}
  from ${scheduledTasks} inner join ${agents} on ${agents.id} = ${scheduledTasks.agentId} and ${agents.active}
  where ${scheduledTasks.enabled} and ${scheduledTasks.nextRunAt} <= ${horizon}`;

interface DueTimes {
  id: string;
  organizationId: string;
  nextRunAt: Date | null;
}

/** Enqueues the job of a task that is due before the next tick. Wake the worker after the commit. */
export async function enqueueSoon(tx: Db, { id, organizationId, nextRunAt }: DueTimes, now: Date): Promise<void> {
  if (!nextRunAt || nextRunAt.getTime() > now.getTime() + 2 * tickMs) return;
  await enqueue(tx, dueJob.of({ taskId: id }, nextRunAt), { organizationId });
}
