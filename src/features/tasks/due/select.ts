import { sql } from "drizzle-orm";
import { agents, scheduledTasks } from "../../../db/schema.ts";
import type { DueWork } from "../../../jobs/schedule.ts";

/** The kind of the job that has a task run whose time has come; its key is the task's id. */
export const dueKind = "task.due";

/** The tasks of active agents whose time comes until the horizon. */
export const dueTasks: DueWork = ({ horizon }) => sql`
  select ${dueKind}, ${scheduledTasks.id}::text, ${scheduledTasks.organizationId},
    jsonb_build_object('taskId', ${scheduledTasks.id}), ${scheduledTasks.nextRunAt}
  from ${scheduledTasks} inner join ${agents} on ${agents.id} = ${scheduledTasks.agentId} and ${agents.active}
  where ${scheduledTasks.enabled} and ${scheduledTasks.nextRunAt} <= ${horizon}`;
