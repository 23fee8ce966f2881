import { z } from "@hono/zod-openapi";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { decide, listWaiting } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { ApprovalDecision, ApprovalPage, ApprovalQuery, ApprovalStatus } from "./schema.ts";

const decideRoute = guarded("agent:write", {
  method: "post",
  path: "/api/conversations/{id}/approvals/{toolCallId}",
  operationId: "decideApproval",
  tags: ["Tools"],
  summary: "Approve or refuse a call that waits",
  description:
    "A turn stops at the call of a tool that needs approval and goes on when all its calls are decided, also after a restart; the model hears of a refusal. After 24 hours, or with the end user's next message, there is nothing to decide any more: 409. After 24 hours the turn goes on with what was decided, if anything was. While the agent is inactive, 409 but for the playground.",
  request: {
    params: z.object({
      id: z.string().openapi({
        param: { name: "id", in: "path" },
        description: "The conversation's id, percent-encoded.",
        example: "assistant:web:api-42",
      }),
      toolCallId: z.string().openapi({
        param: { name: "toolCallId", in: "path" },
        description: "As `done` has it in `metadata.approval`.",
        example: "call_1",
      }),
    }),
    body: jsonBody(ApprovalDecision),
  },
  responses: { 201: json(ApprovalStatus, "It is decided."), ...errorAnswers(404, 409) },
});

const listRoute = guarded("conversation:read", {
  method: "get",
  path: "/api/approvals",
  operationId: "listApprovals",
  tags: ["Tools"],
  summary: "List the calls that wait",
  description:
    "The calls that wait for a person's decision, of every agent within reach. What was decided, refused by the end user's next message or expired is not among them.",
  request: { query: ApprovalQuery },
  responses: { 200: json(ApprovalPage, "A page of them, the oldest first."), ...errorAnswers(404) },
});

/** `/api/approvals` and `/api/conversations/{id}/approvals`. */
export function approvalRoutes(chat: Chat) {
  const routes = router().openapi(listRoute, async (c) => {
    const { instanceId, limit = 20, offset = 0 } = c.req.valid("query");
    return c.json(await listWaiting(c.get("ctx"), { instanceId, limit, offset }), 200);
  });
  return routes.openapi(decideRoute, async (c) => {
    const { id: ref, toolCallId } = c.req.valid("param");
    const decision = c.req.valid("json");
    const turnId = await decide(c.get("ctx"), { ref, toolCallId }, decision);
    // The response does not wait for the turn. If the turn fails to start, the next tick continues it.
    chat.turns.continueDecided(turnId).catch((err: unknown) => c.get("log").error({ turnId, err }, "Going on failed"));
    return c.json({ status: decision.approved ? ("approved" as const) : ("refused" as const) }, 201);
  });
}
