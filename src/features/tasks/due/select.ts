import { z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import { agents, scheduledTasks } from "../../../db/schema.ts";
import { defineJob } from "../../../jobs/define.ts";
import type { DueWork } from "../../../jobs/schedule.ts";

/** Has a task run whose time has come. */
export const dueJob = defineJob("task.due", z.object({ taskId: z.uuid() }), ({ taskId }) => taskId);

/** The tasks of active agents whose time comes until the horizon. */
export const dueTasks: DueWork = ({ horizon }) => sql`
  select ${dueJob.kind}, ${scheduledTasks.id}::text, ${scheduledTasks.organizationId},
    jsonb_build_object('taskId', ${scheduledTasks.id}), ${scheduledTasks.nextRunAt}
  from ${scheduledTasks} inner join ${agents} on ${agents.id} = ${scheduledTasks.agentId} and ${agents.active}
  where ${scheduledTasks.enabled} and ${scheduledTasks.nextRunAt} <= ${horizon}`;
