import { createRoute, z } from "@hono/zod-openapi";
import type { Services } from "../context.ts";
import type { Opening } from "./opening.ts";
import { json, router } from "./route.ts";

const Health = z
  .object({
    status: z.enum(["ok", "stopping"]).openapi({ example: "ok" }),
    timestamp: z.iso.datetime().openapi({ example: "2026-11-21T08:00:00.000Z" }),
    service: z.literal("agent-engine"),
    version: z.string().openapi({ example: "0.1.0" }),
    database: z.enum(["starting", "ready"]).openapi({
      description:
        "Whether the start has opened the database; until then other requests wait. It is not looked at later.",
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
    "Needs no authentication. Answers 503 only while the server is stopping. With the embedded database it answers " +
    "before that is open.",
  responses: { 200: json(Health, "It does."), 503: json(Health, "It is stopping.") },
});

/** The health route, and `stopping`, after which it answers 503. */
export function createHealth({ clock, options }: Services, { isOpen }: Opening) {
  let status: "ok" | "stopping" = "ok";
  const routes = router().openapi(health, (c) => {
    const timestamp = new Date(clock.now()).toISOString();
    const database = isOpen() ? ("ready" as const) : ("starting" as const);
    const body = { status, timestamp, service: "agent-engine" as const, version: options.version, database };
    return c.json(body, status === "ok" ? 200 : 503);
  });
  const stopping = () => {
    status = "stopping";
  };
  return { routes, stopping };
}
