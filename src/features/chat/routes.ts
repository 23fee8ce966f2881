import { createRoute, z } from "@hono/zod-openapi";
import { errorAnswers, json, jsonBody, router } from "../../http/route.ts";
import { completeChat } from "./completions.ts";
import { type Chat, preflight } from "./door.ts";
import { ChatEvent } from "./events.ts";
import { listModels } from "./models.ts";
import { streamChat } from "./native.ts";
import { ChatCompletion, ChatRequest, CompletionRequest, ModelList } from "./schema.ts";

/** The agent's own key; not needed while its `authEnabled` is off. */
const agentKey = [{ agentApiKey: [] }, {}];

const models = createRoute({
  method: "get",
  path: "/v1/models",
  operationId: "listModels",
  tags: ["Chat"],
  summary: "The agents that can be named as model",
  description:
    "With an agent's key: that agent, while its Web channel is on. With a session: the active agents within reach. A management key is refused.",
  security: [{ agentApiKey: [] }, { sessionCookie: [] }, { sessionBearer: [] }],
  "x-permission": "agent:read",
  responses: { 200: json(ModelList, "The agents, as models."), ...errorAnswers(401, 403) },
});

const completions = createRoute({
  method: "post",
  path: "/v1/chat/completions",
  operationId: "createChatCompletion",
  tags: ["Chat"],
  summary: "Chat with an agent, as chat-completions clients do",
  description: [
    "`model` is the agent's slug. With `chat_id` the server keeps the conversation; without it the messages are all there is.",
    'Streamed: chunks as `data:` lines, ended by `data: [DONE]`; the status is decided before the first output, and a later failure is a line `data: {"error":…}` without a finish reason.',
    "At most 20 requests a minute for each client address, and 256 KiB of new text in each. With `X-Error-Format: openai` errors come in the vendor's shape.",
  ].join("\n\n"),
  security: agentKey,
  request: { body: jsonBody(CompletionRequest) },
  responses: {
    200: {
      description: "The reply, whole or as server-sent events.",
      content: {
        "application/json": { schema: ChatCompletion },
        "text/event-stream": {
          schema: z.string().openapi({ example: 'data: {"id":"chatcmpl-…","choices":[…]}\n\ndata: [DONE]\n\n' }),
        },
      },
    },
    ...errorAnswers(400, 401, 404, 413, 415, 429, 502, 503, 504),
  },
});

const native = createRoute({
  method: "post",
  path: "/api/instances/{slug}/chat/stream",
  operationId: "streamChat",
  tags: ["Chat"],
  summary: "Chat with an agent and see everything that happens",
  description: [
    "Typed server-sent events: `step-start` { index, stepType }, `reasoning-delta` { text }, `tool-call` { id, name, args }, `tool-result` { id, result }, `text-delta` { text }, `step-finish` { index, finishReason }, `done` { conversationId, messageId }, `error` { message }.",
    "Each event has an id `<messageId>:<n>`; the comment `: ping` comes every 25 seconds. What fails after the stream opened is `error`, then `done`.",
    "At most 256 KiB of new text in a turn, and 256 open streams for each client address.",
  ].join("\n\n"),
  security: agentKey,
  request: {
    params: z.object({ slug: z.string().openapi({ param: { name: "slug", in: "path" }, example: "assistant" }) }),
    body: jsonBody(ChatRequest),
  },
  responses: {
    200: {
      description: 'The stream: `ChatEvent`s such as `event: text-delta` with `data: {"text":"Hello"}`.',
      content: {
        // OpenAPI 3.1 cannot say "one of these after the other": the schema is that of a single event.
        "text/event-stream": { schema: ChatEvent },
      },
    },
    ...errorAnswers(400, 401, 404, 413, 415, 429, 503),
  },
});

/**
 * The chat doors. They read their bodies themselves: who may talk to the agent is decided before the body is looked at,
 * which the validation of declared routes would do first.
 */
export function chatRoutes(chat: Chat) {
  const routes = router();
  routes.openAPIRegistry.registerComponent("securitySchemes", "agentApiKey", {
    type: "http",
    scheme: "bearer",
    description: "The agent's own key, stored as its secret `auth_api_key`.",
  });
  for (const route of [completions, native]) routes.openAPIRegistry.registerPath(route);

  routes.openapi(models, async (c) => c.json(await listModels(c), 200));
  routes.post("/v1/chat/completions", (c) => completeChat(c, chat));
  routes.post("/api/instances/:slug/chat/stream", (c) => streamChat(c, c.req.param("slug"), chat));

  // Only the request itself names the agent; without credentials of a browser's own there is nothing to protect here.
  routes.options("/v1/*", (c) => preflight(c, c.req.header("Origin") ?? null));
  routes.options("/api/instances/:slug/chat/stream", async (c) => {
    const origin = c.req.header("Origin") ?? null;
    const allowed = await chat.agents.allowedOrigins(c.req.param("slug"));
    return preflight(c, origin && (allowed.includes(origin) || allowed.includes("*")) ? origin : null);
  });
  return routes;
}
