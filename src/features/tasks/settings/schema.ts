import { z } from "@hono/zod-openapi";
import { zInt4, zText } from "../../../core/text/text.ts";
import { isTimezone, zMoment } from "../../../core/time/calendar.ts";
import { runStatuses } from "../../../db/schema.ts";
import { page, pageQuery } from "../../../http/paging.ts";
import { Name, SubjectChannel, Timestamp } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import { checkOutbound, outboundFields, withStoredPlace } from "../../inbox/index.ts";
import { expressionLimit } from "../cron.ts";
import { longestInterval, type Schedule as ScheduleRules, shortestInterval } from "../schedule.ts";
import { mostTasks } from "./shares.ts";

const CronSchedule = z.object({
  type: z.literal("cron"),
  expression: zText(expressionLimit).openapi({
    description:
      "Five fields: minute, hour, day of the month, month, day of the week. `@daily` and its like count too.",
    example: "0 9 * * 1-5",
  }),
  timezone: zText(64)
    .refine(isTimezone, "must be an IANA time zone, such as Europe/Rome")
    .openapi({ description: "IANA name. The expression names local times of this zone.", example: "Europe/Rome" }),
});

const IntervalSchedule = z.object({
  type: z.literal("interval"),
  everyMs: z
    .int("must be a whole number")
    .min(shortestInterval, `must be at least ${shortestInterval}`)
    .max(longestInterval, `must be at most ${longestInterval}`)
    .openapi({ description: "From 1 minute to 366 days.", example: 3_600_000 }),
});

const OneShotSchedule = z.object({
  type: z.literal("one-shot"),
  runAt: zMoment().openapi({ description: "With a zone.", example: "2026-12-24T09:00:00+01:00" }),
});

/** A schedule (decisions §9). `scheduleProblem` checks further rules. */
export const Schedule = z
  .discriminatedUnion("type", [CronSchedule, IntervalSchedule, OneShotSchedule])
  .openapi("Schedule") satisfies z.ZodType<ScheduleRules>;

/** The longest prompt, in UTF-16 units. */
const longestPrompt = 32_768;

/** The fields that callers may set, with descriptions. Create, change and read share this list. */
const settable = {
  name: Name.openapi({ example: "Morning report" }),
  prompt: zText(longestPrompt)
    .refine((text) => text.trim() !== "", "must not be blank")
    .openapi({
      description: "What the agent is told when the task runs.",
      example: "Summarise the orders of yesterday.",
    }),
  schedule: Schedule,
  enabled: z.boolean().openapi({ description: "While it is false the task never runs by itself.", example: true }),
  deleteAfterRun: z
    .boolean()
    .openapi({ description: "Whether the task is deleted, with its runs, once one is completed.", example: false }),
  maxRetries: zInt4(0, 10).openapi({ description: "How often a run that failed is tried again.", example: 3 }),
  onMissed: z.enum(["run", "skip"], "must be run or skip").openapi({
    description:
      "What becomes of times that passed while nothing could run: with `run` the last one is run late, and the others are recorded; with `skip` all are recorded only.",
    example: "run",
  }),
  ...outboundFields,
};

export const ScheduledTask = z
  .object({
    id: z.uuid(),
    ...settable,
    source: z
      .enum(["api", "agent"])
      .openapi({ description: "Who made it: a caller of the API, or the agent by its tool `scheduleTask`." }),
    subject: z.string().openapi({
      description: "The end user for whom the agent made it; empty for a task of the API.",
      example: "",
    }),
    subjectChannel: SubjectChannel.nullable().openapi({ description: "Null: it is for nobody in particular." }),
    userName: z
      .string()
      .nullable()
      .openapi({ description: "The name of the end user, where it is known.", example: null }),
    nextRunAt: Timestamp.nullable().openapi({
      description: "When the task is due next; null when it never is again, and while it is not enabled.",
      example: "2026-11-23T08:00:00.000Z",
    }),
    lastRun: z
      .object({
        status: z.enum(runStatuses),
        at: Timestamp,
        error: z.string().nullable().openapi({
          description: "Why it failed, or why its result was not delivered; null for neither.",
          example: null,
        }),
      })
      .nullable()
      .openapi({ description: "The newest run, also one that was missed; null when there is none." }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("ScheduledTask");
export type ScheduledTask = z.infer<typeof ScheduledTask>;

export const ScheduledTaskPage = z
  .object({ scheduledTasks: z.array(ScheduledTask), ...page })
  .openapi("ScheduledTaskPage");
export type ScheduledTaskPage = z.infer<typeof ScheduledTaskPage>;

export const ScheduledTaskQuery = z.object(pageQuery(mostTasks, mostTasks));
export type ScheduledTaskQuery = z.infer<typeof ScheduledTaskQuery>;

export const NewScheduledTask = z
  .object({
    ...settable,
    enabled: settable.enabled.default(true),
    deleteAfterRun: settable.deleteAfterRun.default(false),
    maxRetries: settable.maxRetries.default(3),
    onMissed: settable.onMissed.default("run"),
    outboundChannel: settable.outboundChannel.default(null),
    outboundTarget: settable.outboundTarget.default(null),
  })
  .openapi("NewScheduledTask", {
    example: {
      name: "Morning report",
      prompt: "Summarise the orders of yesterday.",
      schedule: { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Rome" },
    },
  });
export type NewScheduledTask = z.infer<typeof NewScheduledTask>;

export const ScheduledTaskChanges = z
  .object(settable)
  .partial()
  .openapi("ScheduledTaskChanges", { example: { enabled: false } });
export type ScheduledTaskChanges = z.infer<typeof ScheduledTaskChanges>;

export const taskPath = slugParam.extend({
  id: z.string().openapi({ description: "The task's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});

/** The tasks in a bundle. */
export const bundledTasks = z
  .array(NewScheduledTask.superRefine(checkOutbound).overwrite(withStoredPlace))
  .max(mostTasks, `must have at most ${mostTasks} entries`);
