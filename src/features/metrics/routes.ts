import { z } from "@hono/zod-openapi";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { sameText } from "../../core/ids.ts";
import { countRefused } from "../../http/callers/refused.ts";
import { errorAnswers, router, unguarded } from "../../http/route.ts";
import { bearer } from "../turns/index.ts";

/** The text format of Prometheus. */
const contentType = "text/plain; version=0.0.4; charset=utf-8";

const example = `# HELP agent_engine_turns_running Turns that this process has under way or lets wait for their places.
# TYPE agent_engine_turns_running gauge
agent_engine_turns_running{door="native"} 2
`;

const metrics = {
  ...unguarded({
    method: "get",
    path: "/metrics",
    operationId: "getMetrics",
    tags: ["Service"],
    summary: "Numbers for monitoring",
    description:
      "For a Prometheus server, in its text format: turns, tokens, tools, queues, streams and the process itself. It wants the token that the server was started with (`METRICS_TOKEN`) and answers 404 where there is none. The numbers of queues and files are of the whole installation, up to 5 seconds and 10 minutes old; all others are those of the process that answers.",
    responses: {
      200: { description: "The metrics.", content: { "text/plain": { schema: z.string().openapi({ example }) } } },
      ...errorAnswers(401, 404, 429),
    },
  }),
  security: [{ metricsToken: [] }],
};

export function metricsRoutes({ meters, options: { metricsToken } }: Services) {
  const routes = router().openapi(metrics, async (c) => {
    if (metricsToken === undefined) throw new EngineError("not-found", "No such route: /metrics");
    if (!sameText(bearer(c.req.header("Authorization")) ?? "", metricsToken)) {
      countRefused(c);
      throw new EngineError("unauthorized", "This route wants METRICS_TOKEN, as Authorization: Bearer <token>");
    }
    const headers = { "Content-Type": contentType, "Cache-Control": "no-store" };
    return c.text(await meters.text(), 200, headers);
  });
  routes.openAPIRegistry.registerComponent("securitySchemes", "metricsToken", {
    type: "http",
    scheme: "bearer",
    description: "`METRICS_TOKEN`, a setting of the server.",
  });
  return routes;
}
