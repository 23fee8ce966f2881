import { createRoute } from "@hono/zod-openapi";
import type { Services } from "../../../context/ctx.ts";
import { sharedRead } from "../../../core/queues/shared-read.ts";
import { json, router } from "../../../http/route.ts";
import type { Schedule } from "../../../jobs/schedule.ts";
import { converseJob } from "../ledger/work.ts";
import { SchedulerHealth } from "./health-schema.ts";
import { evaluateJob } from "./job.ts";
import { readWork } from "./work.ts";

interface Dependencies {
  services: Services;
  schedule: () => Pick<Schedule, "lastTickAt">;
  running(kind: string): number;
  /** The kind of the jobs that run tasks. */
  taskKind: string;
}

/** A process that has not looked for due work for so long is stalled (decisions §9), in milliseconds. */
const stalledMs = 2 * 60_000;

/** Strangers may ask as often as they like: the database is asked once in this time, in milliseconds. */
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
  /** To be called at the start: a process that never ticked is stalled two minutes later. */
  booted(): void;
}

/** How the scheduler of this process does. */
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
