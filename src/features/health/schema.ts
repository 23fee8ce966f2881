import { z } from "@hono/zod-openapi";
import { SchedulerHealth } from "../room/index.ts";

const HealthCheck = z
  .object({
    name: z
      .string()
      .openapi({ description: "What was looked at; several findings may share it.", example: "database" }),
    status: z.enum(["ok", "warn", "fail"]).openapi({ description: "`warn` is something to look at.", example: "ok" }),
    message: z.string().openapi({
      description: "The finding and, unless the status is `ok`, what to do. It never holds a secret.",
      example: "Embedded, PostgreSQL 17.5",
    }),
  })
  .openapi("HealthCheck");

export const InstallationHealth = z
  .object({
    ok: z.boolean().openapi({ description: "Whether nothing fails." }),
    version: z.string().openapi({ description: "Of the server that answers.", example: "0.1.0" }),
    checks: z.array(HealthCheck),
    scheduler: SchedulerHealth,
  })
  .openapi("InstallationHealth");
export type InstallationHealth = z.infer<typeof InstallationHealth>;
