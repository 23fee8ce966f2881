import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { ofAgent } from "./agents.ts";
import { authorship, createdAt, id, jsonb, moment, oneOf, organizationId, updatedAt } from "./columns.ts";

/** Work that an agent does at set times (decisions §9). */
export const scheduledTasks = pgTable(
  "scheduled_tasks",
  {
    id: id(),
    agentId: ofAgent(),
    organizationId: organizationId(),
    name: text("name").notNull(),
    prompt: text("prompt").notNull(),
    schedule: jsonb("schedule").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    deleteAfterRun: boolean("delete_after_run").notNull().default(false),
    /** How often a failed run is retried. */
    maxRetries: integer("max_retries").notNull().default(3),
    onMissed: text("on_missed").$type<"run" | "skip">().notNull().default("run"),
    outboundChannel: text("outbound_channel"),
    outboundTarget: text("outbound_target"),
    /** The end user in whose conversation the agent made the task; empty for none. */
    subject: text("subject").$type<SubjectKey>().notNull().default(""),
    userName: text("user_name"),
    /** The creator: a caller of the API, or the agent by its tool. */
    source: text("source").$type<"api" | "agent">().notNull().default("api"),
    /** The time from which an interval counts. */
    anchorAt: moment("anchor_at").notNull(),
    /** When the task is due next; null for never. */
    nextRunAt: moment("next_run_at"),
    ...authorship(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    oneOf("scheduled_tasks_on_missed", table.onMissed, ["run", "skip"]),
    oneOf("scheduled_tasks_source", table.source, ["api", "agent"]),
    index("scheduled_tasks_agent").on(table.agentId, table.createdAt),
    index("scheduled_tasks_due").on(table.nextRunAt).where(sql`${table.enabled} and ${table.nextRunAt} is not null`),
  ],
);

export const runStatuses = ["queued", "running", "completed", "failed", "missed", "skipped"] as const;
export const runTriggers = ["schedule", "manual", "missed"] as const;

/** The runs of scheduled tasks, also skipped ones. */
export const taskRuns = pgTable(
  "task_runs",
  {
    id: id(),
    taskId: uuid("task_id")
      .notNull()
      .references(() => scheduledTasks.id, { onDelete: "cascade" }),
    agentId: ofAgent(),
    organizationId: organizationId(),
    /** The planned time of the run. */
    dueAt: moment("due_at").notNull(),
    triggerType: text("trigger_type").$type<(typeof runTriggers)[number]>().notNull(),
    status: text("status").$type<(typeof runStatuses)[number]>().notNull(),
    /** How often the run was started. */
    attempts: integer("attempts").notNull().default(0),
    /** The number of runs missed before this one; they have no rows of their own. */
    alsoMissed: integer("also_missed").notNull().default(0),
    startedAt: moment("started_at"),
    completedAt: moment("completed_at"),
    /** The agent's reply. */
    output: text("output"),
    /** Why the run failed or was skipped, without secrets. */
    error: text("error"),
    /** `<slug>:scheduled:<taskId>:<ms>`. */
    conversationRef: text("conversation_ref"),
    createdAt: createdAt(),
  },
  (table) => [
    oneOf("task_runs_status", table.status, runStatuses),
    oneOf("task_runs_trigger", table.triggerType, runTriggers),
    uniqueIndex("task_runs_due").on(table.taskId, table.dueAt),
    index("task_runs_open").on(table.taskId).where(sql`${table.status} in ('queued', 'running')`),
    index("task_runs_agent").on(table.agentId),
    index("task_runs_age").on(table.createdAt),
  ],
);
