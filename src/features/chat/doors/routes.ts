import { createRoute, z } from "@hono/zod-openapi";
import { errorAnswers, json, jsonBody, notTheirs, router } from "../../../http/route.ts";
import { allowsOrigin } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { resumeStream, stopTurn } from "../replay/resume.ts";
import { eventStreamAnswer, idempotencyHeader, lastEventHeader, messageParams, Stopped } from "../replay/schema.ts";
import { clientOf } from "../request/admit.ts";
import { preflight } from "../request/cors.ts";
import { completeChat } from "./completions.ts";
import { findModel, listModels } from "./models.ts";
import { streamChat, streamChatAlias } from "./native.ts";
import { ChatCompletion, ChatRequest, CompletionRequest, Model, ModelList } from "./schema.ts";

/** The agent's key. Not needed while the agent's `authEnabled` is off. */
const agentKey = [{ agentApiKey: [] }, {}];

const wrongKeysText =
  "After 20 wrong keys in a minute from one client address, further ones from there are 429; after 20 for one agent its right key is too, but for where that was right before.";

const overloadText =
  "A server with more to do than it can refuses new turns at once with 503 and `Retry-After`, before it looks at credentials; such a call is counted by no limit and may be sent again as it is. A known 429 of a throttle goes before. Its places are shared fairly: by organization, then by agent, then by client address. Turns that run, resuming and stopping are not refused.";

const models = createRoute({
  method: "get",
  path: "/v1/models",
  operationId: "listModels",
  tags: ["Chat"],
  summary: "The agents that can be named as model",
  description:
    "With an agent's key: that agent, while its Web channel is on; pages of its `allowedOrigins` may read the answer. With a session: the active agents within reach. A management key is refused.",
  security: [{ agentApiKey: [] }, { sessionCookie: [] }, { sessionBearer: [] }],
  "x-permission": "agent:read",
  responses: {
    200: json(ModelList, "The agents, as models."),
    ...errorAnswers(401, 403, 429, 503),
    404: notTheirs,
  },
});

const model = createRoute({
  method: "get",
  path: "/v1/models/{id}",
  operationId: "getModel",
  tags: ["Chat"],
  summary: "One of the agents that can be named as model",
  description: "An entry of the list of `/v1/models`, for the same callers.",
  security: [{ agentApiKey: [] }, { sessionCookie: [] }, { sessionBearer: [] }],
  "x-permission": "agent:read",
  request: {
    params: z.object({
      id: z
        .string()
        .openapi({ param: { name: "id", in: "path" }, description: "Slug of the agent.", example: "assistant" }),
    }),
  },
  responses: { 200: json(Model, "The agent, as a model."), ...errorAnswers(401, 403, 404, 429, 503) },
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
    "A turn that is stopped before its end, as when its conversation is deleted, is an error: 409 before the first output. While the agent's `authEnabled` is off, a request without the agent's key whose `Origin` is neither the server's own nor in the agent's `allowedOrigins` is 403; its own are the public address, and an IP address or localhost that it is reached by.",
    "At most 20 requests a minute for each client address, unless the operator sets `CHAT_REQUESTS_PER_MINUTE`, and 256 KiB of new text in each. With `X-Error-Format: openai`, and to the vendor's own clients (`X-Stainless-Lang`), errors come in the vendor's shape.",
    wrongKeysText,
    overloadText,
  ].join("\n\n"),
  security: agentKey,
  request: { headers: idempotencyHeader, body: jsonBody(CompletionRequest) },
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
    ...errorAnswers(400, 401, 403, 404, 409, 413, 415, 422, 429, 502, 503, 504),
  },
});

const native = createRoute({
  method: "post",
  path: "/api/instances/{slug}/chat/stream",
  operationId: "streamChat",
  tags: ["Chat"],
  summary: "Chat with an agent and see everything that happens",
  description: [
    "Typed server-sent events: `hook-execution` { hookId, event, toolName, success, durationMs }, `step-start` { index, stepType }, `reasoning-delta` { text }, `tool-call` { id, name, args }, `tool-result` { id, result }, `text-delta` { text }, `step-finish` { index, finishReason }, `done` { conversationId, messageId, metadata? }, `error` { message }.",
    "Each event of a turn has an id `<messageId>:<n>`; the comment `: ping` comes every 25 seconds. What fails after the stream opened is `error`, then `done`.",
    "At most 256 KiB of new text in a turn, and 256 open streams for each client address. The policy `rateLimit` counts calls by the agent's key and the client's address, without the key by the address. While the agent's `authEnabled` is off, a request without the agent's key whose `Origin` is neither the server's own nor in the agent's `allowedOrigins` is 403; its own are the public address, and an IP address or localhost that it is reached by.",
    wrongKeysText,
    overloadText,
  ].join("\n\n"),
  security: agentKey,
  request: {
    params: z.object({ slug: z.string().openapi({ param: { name: "slug", in: "path" }, example: "assistant" }) }),
    headers: idempotencyHeader,
    body: jsonBody(ChatRequest),
  },
  responses: { 200: eventStreamAnswer, ...errorAnswers(400, 401, 403, 404, 409, 413, 415, 422, 429, 503) },
});

const alias = createRoute({
  ...native,
  path: "/api/instances/{slug}/playground/chat/stream",
  operationId: "streamChatAlias",
  summary: "Chat with an agent, under the playground's address",
  description:
    "The same as `streamChat`, for clients that know this address: with the agent's key, while the Web channel is on, and in the same conversations. Streams are resumed and stopped under the address of `streamChat`.",
  "x-feature": "administration",
});

const resume = createRoute({
  method: "get",
  path: "/api/instances/{slug}/chat/stream/{messageId}",
  operationId: "resumeChat",
  tags: ["Chat"],
  summary: "Go on with a stream that broke off",
  description:
    "What came after the event named in the header `Last-Event-ID`, or all of it, then what happens: until 60 seconds after the end of the turn. The stream of a turn that waits for an approval stays open behind its `done` and goes on with the turn that continues it; it ends when nothing will come any more. Turns with `chat_id` can be followed on any replica.",
  security: agentKey,
  request: {
    params: messageParams,
    headers: lastEventHeader,
  },
  responses: { 200: eventStreamAnswer, ...errorAnswers(400, 401, 403, 404, 429, 503) },
});

const stop = createRoute({
  method: "delete",
  path: "/api/instances/{slug}/chat/stream/{messageId}",
  operationId: "stopChat",
  tags: ["Chat"],
  summary: "Stop a turn",
  description:
    "What it has produced is stored with `metadata.stopped`. On another replica than the turn's own it takes a few seconds.",
  security: agentKey,
  request: { params: messageParams },
  responses: { 200: json(Stopped, "It stops, or had stopped."), ...errorAnswers(401, 403, 404, 429, 503) },
});

/**
 * The chat endpoints. They read their bodies themselves, since callers are admitted before bodies are validated, and a
 * declared route would validate first.
 */
export function chatRoutes(chat: Chat) {
  const routes = router();
  routes.openAPIRegistry.registerComponent("securitySchemes", "agentApiKey", {
    type: "http",
    scheme: "bearer",
    description: "The agent's own key, stored as its secret `auth_api_key`.",
  });
  for (const route of [completions, native, alias, resume, stop]) routes.openAPIRegistry.registerPath(route);

  routes.openapi(models, async (c) => c.json(await listModels(c, chat), 200));
  routes.openapi(model, async (c) => c.json(await findModel(c, chat, c.req.valid("param").id), 200));
  routes.post("/v1/chat/completions", (c) => completeChat(c, chat));
  routes.post("/api/instances/:slug/chat/stream", (c) => streamChat(c, c.req.param("slug"), chat));
  routes.post("/api/instances/:slug/playground/chat/stream", (c) => streamChatAlias(c, c.req.param("slug"), chat));
  routes.get("/api/instances/:slug/chat/stream/:messageId", async (c) => {
    const { slug, messageId } = c.req.param();
    return resumeStream(c, chat, { slug, by: clientOf(c), messageId, door: "native" });
  });
  routes.delete("/api/instances/:slug/chat/stream/:messageId", async (c) => {
    const { slug, messageId } = c.req.param();
    return c.json({ stopped: await stopTurn(c, chat, { slug, by: clientOf(c), messageId, door: "native" }) }, 200);
  });

  // A preflight of `/v1` does not name the agent, so the request after it checks the origin.
  routes.options("/v1/*", (c) => preflight(c, c.req.header("Origin") ?? null));
  for (const path of ["chat/stream", "chat/stream/:messageId", "playground/chat/stream"]) {
    routes.options(`/api/instances/:slug/${path}`, async (c) => {
      const origin = c.req.header("Origin") ?? null;
      return preflight(c, origin !== null && (await mayRead(chat, c.req.param("slug") ?? "", origin)) ? origin : null);
    });
  }
  return routes;
}

/** Whether pages of an origin may read responses about an agent. */
function mayRead({ turns: { agents } }: Chat, slug: string, origin: string): Promise<boolean> {
  return agents.serve(slug, async (agent) => {
    if (agent) await agents.confirm(agent);
    return allowsOrigin(agent, origin);
  });
}
