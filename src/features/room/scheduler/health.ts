import { createRoute, z } from "@hono/zod-openapi";
import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { sharedRead } from "../../../core/limits/shared-read.ts";
import { fields, type RowOf } from "../../../db/fragments.ts";
import { jobs, rooms } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { json, router } from "../../../http/route.ts";
import type { Schedule } from "../../../jobs/schedule.ts";
import { converseJob } from "../ledger/store.ts";
import { evaluateJob } from "./job.ts";

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

interface Dependencies {
  services: Services;
  schedule: () => Pick<Schedule, "lastTickAt">;
  running(kind: string): number;
  /** The kind of the jobs that run tasks. */
  taskKind: string;
}

/** A process that has not looked for due work for this long is stalled (decisions §9), in milliseconds. */
const stalledMs = 2 * 60_000;

/**
 * The shortest time between two reads of the database, in milliseconds, since strangers may request the health any
 * number of times.
 */
const freshMs = 5_000;

const health = createRoute({
  method: "get",
  path: "/health/scheduler",
  operationId: "getSchedulerHealth",
  tags: ["Service"],
  summary: "Whether due work of Rooms and tasks is looked for",
  description:
    "Needs no authentication. Slots and the last tick are those of the process that answers; the counts are of the whole installation and up to 5 seconds old.",
  responses: {
    200: json(SchedulerHealth, "It is."),
    503: json(SchedulerHealth, "It is not: no tick ran for two minutes, or the database can't be asked."),
  },
});

export interface SchedulerState {
  read(): Promise<SchedulerHealth>;
  /** Call it at the start: a process that never ticks then counts as stalled after two minutes. */
  booted(): void;
}

/** The health of this process's scheduler. */
export function createSchedulerState({ services, schedule, running, taskKind }: Dependencies): SchedulerState {
  const { clock, log, policies } = services;
  const kinds = [evaluateJob.kind, converseJob.kind, taskKind];
  let bootedAt = clock.now();
  const onFailure = (err: unknown) => log.warn({ err }, "The scheduler's health could not be read");
  const readShared = sharedRead({ clock, freshMs, onFailure }, () => readWork(services, kinds));
  return {
    async read() {
      const work = await readShared();
      const lastTickAt = schedule().lastTickAt();
      const total = policies.values.roomSlots;
      const isStalled = work === null || clock.now() - (lastTickAt ?? bootedAt) > stalledMs;
      return {
        status: isStalled ? "stalled" : "ok",
        slots: { total, free: Math.max(0, total - running(evaluateJob.kind)) },
        pending: work?.pending ?? null,
        stuckRuns: work?.stuckRuns ?? null,
        lastTickAt: lastTickAt === null ? null : new Date(lastTickAt).toISOString(),
      };
    },
    booted() {
      bootedAt = clock.now();
    },
  };
}

/** The route of the scheduler's health. */
export function schedulerHealth({ read }: SchedulerState) {
  return router().openapi(health, async (c) => {
    const state = await read();
    return c.json(state, state.status === "stalled" ? 503 : 200);
  });
}

/** How much work waits or is stuck, in all agents. */
interface WaitingWork {
  /** Entries of backlogs with the status `pending`. */
  pending: number;
  /** Jobs whose lease ended over a minute ago and that no process has claimed since. */
  stuckRuns: number;
}

/** `kinds`: the kinds of jobs that run unattended turns. */
async function readWork({ database }: Pick<Services, "database">, kinds: readonly string[]): Promise<WaitingWork> {
  const [work] = await workStatement.run(database, { kinds });
  if (!work) throw new Error("The statement answered no row");
  return work;
}

const workStatement = statement({ kinds: "text[]" }, ({ kinds }) => {
  const isOwnWork = sql`${jobs.kind} = any(${kinds})`;
  const hung = sql`select count(*) from ${jobs} where ${isOwnWork} and ${jobs.lockedUntil} < now() - interval '1 minute'`;
  const waiting = sql`select coalesce(sum(${rooms.pendingCount}), 0) from ${rooms} where ${rooms.pendingCount} > 0`;
  const row = fields({
    pending: sql<number>`(${waiting})::float8`,
    stuckRuns: sql<number>`(${hung})::float8`,
  });
  return sql<RowOf<typeof row>>`select ${row}`;
});
