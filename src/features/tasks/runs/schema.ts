import { z } from "@hono/zod-openapi";
import { runStatuses, runTriggers } from "../../../db/schema.ts";
import { page, pageQuery } from "../../../http/paging.ts";
import { Timestamp } from "../../../http/shapes.ts";

export const TaskRun = z
  .object({
    id: z.uuid(),
    status: z.enum(runStatuses).openapi({
      description:
        "`missed`: nothing could run at that time. `skipped`: an earlier run had not ended, or the person who asked the agent for the task stopped the agent or is not in the channel's `allowedUserIds` any more. `running` is also one that waits for somebody's approval.",
      example: "completed",
    }),
    triggerType: z.enum(runTriggers).openapi({
      description: "`schedule`: on time. `missed`: late, for a time that was missed. `manual`: a call of `/run`.",
      example: "schedule",
    }),
    dueAt: Timestamp.openapi({ description: "The time for which it was planned." }),
    startedAt: Timestamp.nullable(),
    completedAt: Timestamp.nullable().openapi({ description: "When it ended, well or not." }),
    durationMs: z.int().nullable().openapi({ description: "From its start to its end, retries included." }),
    attempts: z.int().openapi({ description: "How often it was begun.", example: 1 }),
    alsoMissed: z.int().openapi({
      description: "How many earlier times were missed with this one, and are no runs of their own.",
      example: 0,
    }),
    output: z.string().nullable().openapi({
      description: "What the agent said; null once its conversation is deleted.",
      example: "12 orders, all shipped.",
    }),
    error: z.string().nullable().openapi({
      description:
        "Why it failed or did not take place, or why it is tried again; of a `completed` one, why its result was not delivered.",
    }),
    conversationId: z.string().nullable().openapi({
      description: "The conversation of the run; null when it did not take place.",
      example: "assistant:scheduled:01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d:1795939200000",
    }),
  })
  .openapi("TaskRun");
export type TaskRun = z.infer<typeof TaskRun>;

export const TaskRunPage = z.object({ runs: z.array(TaskRun), ...page }).openapi("TaskRunPage");
export type TaskRunPage = z.infer<typeof TaskRunPage>;

export const TaskRunQuery = z.object(pageQuery(20, 100));
export type TaskRunQuery = z.infer<typeof TaskRunQuery>;

export const BegunRun = z.object({ id: z.uuid().openapi({ description: "The run's id." }) }).openapi("BegunRun");
