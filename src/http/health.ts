import { createRoute, z } from "@hono/zod-openapi";
import type { Services } from "../context/ctx.ts";
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

/** The health route; and `stopping`, after which it responds with 503. */
export function createHealth({ clock, options, database }: Services, { isOpen }: Opening) {
  let status: "ok" | "stopping" = "ok";
  const routes = router().openapi(health, (c) => {
    const timestamp = new Date(clock.now()).toISOString();
    const state = !isOpen() ? "opening" : database.isUsable() ? "ready" : "unavailable";
    const { version } = options;
    const body = { status, timestamp, service: "agent-engine" as const, version, database: state } as const;
    return c.json(body, status === "ok" ? 200 : 503);
  });
  const stopping = () => {
    status = "stopping";
  };
  return { routes, stopping };
}
