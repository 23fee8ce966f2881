import { createRoute, z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";
import type { Services } from "../context/ctx.ts";
import { EngineError } from "../core/errors.ts";
import { sharedRead } from "../core/limits/shared-read.ts";
import { withinTime } from "../core/time/deadline.ts";
import { installation } from "../db/schema.ts";
import type { Opening } from "./opening.ts";
import { json, router } from "./route.ts";

const Health = z
  .object({
    status: z.enum(["ok", "stopping"]).openapi({ example: "ok" }),
    timestamp: z.iso.datetime().openapi({ example: "2026-11-21T08:00:00.000Z" }),
    service: z.literal("agent-engine"),
    version: z.string().openapi({ example: "0.1.0" }),
    database: z.enum(["opening", "ready", "unavailable"]).openapi({
      description:
        "`opening`: the start has not opened it yet, and other requests wait. Then what the last statements met: `unavailable` when they found no database, or one that takes no writes. Health itself asks it nothing.",
      example: "ready",
    }),
  })
  .openapi("Health");

const health = createRoute({
  method: "get",
  path: "/health",
  operationId: "getHealth",
  tags: ["Service"],
  summary: "Whether the server takes requests",
  description:
    "Needs no authentication. Answers 503 only while the server is stopping, whatever `database` says. With the " +
    "embedded database it answers before that is open.",
  responses: { 200: json(Health, "It does."), 503: json(Health, "It is stopping.") },
});

const Ready = z
  .object({
    status: z.enum(["ready", "opening", "stopping", "unavailable"]).openapi({
      description:
        "`opening`: the start has not opened the database yet. `stopping`: the server still works, but stops soon. `unavailable`: the database took no write within two seconds.",
      example: "ready",
    }),
  })
  .openapi("Ready");

const readiness = createRoute({
  method: "get",
  path: "/ready",
  operationId: "getReadiness",
  tags: ["Service"],
  summary: "Whether a balancer should send requests here",
  description:
    "Needs no authentication. Writes one row of the database, at most once a second for all callers together. For load " +
    "balancers and readiness probes; whether to restart the process is the question of `GET /health`.",
  responses: { 200: json(Ready, "It should: writes succeed."), 503: json(Ready, "It should not.") },
});

/** The routes `/health` and `/ready`, and `drain`, which makes both answer 503. */
export function createHealth(services: Services, { isOpen }: Opening) {
  const { clock, options, database } = services;
  let status: "ok" | "stopping" = "ok";
  const takesWrites = createWriteProbe(services);
  const readyState = async () => {
    if (status === "stopping") return status;
    if (!isOpen()) return "opening";
    return (await takesWrites()) ? "ready" : "unavailable";
  };
  const routes = router()
    .openapi(health, (c) => {
      const timestamp = new Date(clock.now()).toISOString();
      const state = !isOpen() ? "opening" : database.isUsable() ? "ready" : "unavailable";
      const { version } = options;
      const body = { status, timestamp, service: "agent-engine" as const, version, database: state } as const;
      return c.json(body, status === "ok" ? 200 : 503);
    })
    .openapi(readiness, async (c) => {
      const state = await readyState();
      return c.json({ status: state }, state === "ready" ? 200 : 503);
    });
  const drain = () => {
    status = "stopping";
  };
  return { routes, drain };
}

/** The shortest time between two probes, in milliseconds, since strangers may ask any number of times. */
const freshMs = 1_000;

/** The longest time of a write that counts as a success, in milliseconds. */
const longestWriteMs = 2_000;

/**
 * Returns a function that tells whether the database takes writes, by a write: no read shows that the disk is full or
 * that commits wait for a synchronous standby.
 */
function createWriteProbe({ database, clock, log }: Services): () => Promise<boolean> {
  let running: Promise<unknown> | null = null;
  let works = true;
  /** Waits for the running write, if there is one, so that a database that hangs gets no second one. */
  const write = () => {
    running ??= database.db
      .update(installation)
      .set({ id: 1 })
      .where(eq(installation.id, 1))
      .finally(() => {
        running = null;
      });
    return running;
  };
  const onFailure = (err: unknown) => {
    if (works) log.warn({ err }, "Not ready: the database takes no writes");
    works = false;
  };
  const probe = sharedRead({ clock, freshMs, onFailure }, async () => {
    const tooLate = new EngineError("unavailable", "The database did not finish a write in time");
    await withinTime(clock, longestWriteMs, tooLate, write);
    if (!works) log.info({}, "Ready again: the database takes writes");
    works = true;
    return true;
  });
  return async () => (await probe()) !== null;
}
