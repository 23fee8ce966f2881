import type { JsonValue } from "../../../core/json.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { sourcePath } from "../sources/schema.ts";
import type { TryOut } from "./dry-run.ts";
import { DryRun, TriedPayload } from "./schema.ts";

const dryRun = guarded("agent.room:write", {
  method: "post",
  path: "/api/instances/{slug}/event-sources/{id}/dry-run",
  operationId: "dryRunEventSource",
  tags: ["Room"],
  summary: "Say what an event would lead to",
  description:
    "Asks the source's definitions about a payload as the matcher would, also while the source is off: the model is really asked, on the agent's budget. Nothing is stored, and nothing done.",
  request: { params: sourcePath, body: jsonBody(TriedPayload) },
  responses: { 200: json(DryRun, "What would be done, and what was asked and answered."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/event-sources/{id}/dry-run`. */
export function dryRunRoutes(tryOut: TryOut) {
  return router().openapi(dryRun, async (c) => {
    const { slug, id } = c.req.valid("param");
    const payload = c.req.valid("json").payload as JsonValue;
    return c.json(await tryOut(c.var.ctx, slug, id, { payload, signal: c.req.raw.signal }), 200);
  });
}
