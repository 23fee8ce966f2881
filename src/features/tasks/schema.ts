import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { zMoment } from "../../core/time/moment.ts";
import { isTimezone } from "../../core/time/time-zones.ts";
import { expressionLimit } from "./cron.ts";
import { longestInterval, type Schedule as ScheduleRules, shortestInterval } from "./schedule.ts";

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

/** When a scheduled task runs (decisions §9). What a shape can't tell is refused by `scheduleProblem`. */
export const Schedule = z
  .discriminatedUnion("type", [CronSchedule, IntervalSchedule, OneShotSchedule])
  .openapi("Schedule") satisfies z.ZodType<ScheduleRules>;
