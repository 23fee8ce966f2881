import { isAdministered } from "../../context/ctx.ts";
import { guarded, json, router } from "../../http/route.ts";
import { InstallationHealth } from "./schema.ts";

const show = guarded(
  "policy:manage",
  {
    method: "get",
    path: "/api/installation/health",
    operationId: "getInstallationHealth",
    tags: ["Installation"],
    summary: "Whether the installation is in order",
    description:
      "What `agent-engine doctor` examines, as far as a running server can: settings, data directory, database, encryption key, stored settings, background work, messages, channels, files, the scheduler, plugins, providers and the public address. It asks each provider of the environment for its models, and the public address for its health, for at most 5 seconds. Callers at the same time share one examination. The permission must be held in the first organization, which a request without `X-Organization` addresses. With the feature `administration` only signed-in people may call it.",
    responses: { 200: json(InstallationHealth, "The checks, in the order of `doctor`.") },
  },
  { installation: true, sessionOnly: isAdministered },
);

/** `/api/installation/health`. */
export function healthRoutes(examine: () => Promise<InstallationHealth>) {
  return router().openapi(show, async (c) => c.json(await examine(), 200));
}
