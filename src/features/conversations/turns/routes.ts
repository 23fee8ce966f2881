import { errorAnswers, guarded, json, router } from "../../../http/route.ts";
import { conversationPath } from "../schema.ts";
import { OneTurn, TurnPage, TurnQuery, turnPath } from "./schema.ts";
import { getTurn, listTurns } from "./service.ts";

const tags = ["Conversations"];
const path = "/api/conversations/{conversationId}/turns";

const list = guarded("conversation:read", {
  method: "get",
  path,
  operationId: "listTurns",
  tags,
  summary: "The turns of a conversation",
  description: "The newest first, also those that failed before they said anything and so left no message.",
  request: { params: conversationPath, query: TurnQuery },
  responses: { 200: json(TurnPage, "A page of the turns."), ...errorAnswers(404) },
});

const get = guarded("conversation:read", {
  method: "get",
  path: `${path}/{turnId}`,
  operationId: "getTurn",
  tags,
  summary: "Why the agent answered so",
  description:
    "One turn with all that is stored of it: messages, tool calls, hooks, tokens and times. While the agent's `debugEnabled` is on, `debug` has how it came to its reply: the prompt as the model got it, the memories and the state in it, the tools on offer, and each step with its retries and what the provider said. A turn's id is the id of the agent's message.",
  request: { params: turnPath },
  responses: { 200: json(OneTurn, "The turn."), ...errorAnswers(404) },
});

/** `/api/conversations/{conversationId}/turns` (decisions §12). */
export const turnRoutes = router()
  .openapi(list, async (c) =>
    c.json(await listTurns(c.var.ctx, c.req.valid("param").conversationId, c.req.valid("query")), 200),
  )
  .openapi(get, async (c) => {
    const { conversationId, turnId } = c.req.valid("param");
    return c.json({ turn: await getTurn(c.var.ctx, conversationId, turnId) }, 200);
  });
