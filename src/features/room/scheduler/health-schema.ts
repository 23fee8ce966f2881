import { z } from "@hono/zod-openapi";

export const SchedulerHealth = z
  .object({
    status: z.enum(["ok", "stalled"]).openapi({
      description:
        "`stalled` when this process has not looked for due work for two minutes, or can't ask its database.",
      example: "ok",
    }),
    slots: z.object({ total: z.int(), free: z.int() }).openapi({
      description: "How many turns of Rooms this process takes at a time.",
      example: { total: 4, free: 3 },
    }),
    pending: z.int().nullable().openapi({
      description: "Entries of all backlogs that wait; null while the database can't be asked.",
      example: 12,
    }),
    stuckRuns: z.int().nullable().openapi({
      description:
        "Turns of Rooms and scheduled tasks whose process has been silent for over a minute and that no other process has taken over; null while the database can't be asked.",
      example: 0,
    }),
    lastTickAt: z.iso.datetime().nullable().openapi({
      description: "When this process looked for due work the last time, which it does every 30 seconds.",
      example: "2026-11-21T08:00:00.000Z",
    }),
  })
  .openapi("SchedulerHealth");
export type SchedulerHealth = z.infer<typeof SchedulerHealth>;
