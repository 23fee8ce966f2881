import type { Context } from "hono";
import { every } from "hono/combine";
import type { Ctx } from "../../context.ts";
import { newId } from "../../core/ids.ts";
import type { AppEnv } from "../../http/environment.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { findAgent, slugParam } from "../agents/index.ts";
import type { Grant } from "./admit.ts";
import type { Asked, Chat } from "./door.ts";
import type { ChatInput } from "./input.ts";
import { answerNatively } from "./native.ts";
import { resumeStream, stopTurn } from "./resume.ts";
import { eventStreamAnswer, idempotencyHeader, lastEventHeader, messageParams, Stopped } from "./resume-schema.ts";
import { ChatRequest } from "./schema.ts";

const path = "/api/instances/{slug}/playground/stream";
const sessionOnly = { sessionOnly: true };

const play = guarded(
  "agent.playground:use",
  {
    method: "post",
    path,
    operationId: "streamPlayground",
    tags: ["Chat"],
    summary: "Talk to an agent from the panel",
    description:
      "The events of the native stream, for a signed-in person: without the agent's key, also while its Web channel is off or the agent is inactive. Its conversations are `<slug>:playground:<chat_id>`; `user` counts for those who may write memories.",
    request: { params: slugParam, headers: idempotencyHeader, body: jsonBody(ChatRequest) },
    responses: { 200: eventStreamAnswer, ...errorAnswers(404, 409, 422, 503) },
  },
  sessionOnly,
);

const resume = guarded(
  "agent.playground:use",
  {
    method: "get",
    path: `${path}/{messageId}`,
    operationId: "resumePlayground",
    tags: ["Chat"],
    summary: "Go on with a playground stream",
    description: "What came after `Last-Event-ID`, then what happens. Until 60 seconds after the end of the turn.",
    request: { params: messageParams, headers: lastEventHeader },
    responses: { 200: eventStreamAnswer, ...errorAnswers(404) },
  },
  sessionOnly,
);

const stop = guarded(
  "agent.playground:use",
  {
    method: "delete",
    path: `${path}/{messageId}`,
    operationId: "stopPlayground",
    tags: ["Chat"],
    summary: "Stop a playground turn",
    description: "What it has produced is stored. `stopped` is false when the turn was over already.",
    request: { params: messageParams },
    responses: { 200: json(Stopped, "It stops, or had stopped."), ...errorAnswers(404) },
  },
  sessionOnly,
);

const door = "playground";

/** `/api/instances/{slug}/playground/stream`. */
export function playgroundRoutes(chat: Chat) {
  const routes = router();
  const { middleware, ...described } = play;
  routes.openAPIRegistry.registerPath(described);
  // The body is read as the native door reads it, with its limits.
  routes.post("/api/instances/:slug/playground/stream", every(...middleware), async (c) =>
    answerNatively(c, chat, await grantOf(chat, c.var.ctx, c.req.param("slug")), { cors: {}, turnOf }),
  );
  routes.openapi(resume, async (c) => {
    const { slug, messageId } = c.req.valid("param");
    return resumeStream(c, chat, await grantOf(chat, c.var.ctx, slug), { messageId, door, cors: {} });
  });
  routes.openapi(stop, async (c) => {
    const { slug, messageId } = c.req.valid("param");
    const grant = await grantOf(chat, c.var.ctx, slug);
    return c.json({ stopped: await stopTurn(chat, grant, { messageId, door }) }, 200);
  });
  return routes;
}

async function grantOf(chat: Chat, ctx: Ctx, slug: string): Promise<Grant> {
  await findAgent(ctx, slug);
  return chat.agents.admitSession(slug, ctx);
}

function turnOf(c: Context<AppEnv>, { agent }: Grant, input: ChatInput): Asked {
  const { slug } = agent.row;
  const channelId = input.chatId ?? newId();
  const ref = `${slug}:playground:${channelId}`;
  const { actor, membership } = c.var.ctx;
  const userName = actor.name ?? "";
  // Who speaks as an end user writes that person's memories.
  const subject = membership.permissions.has("memory:write") ? (input.user ?? ref) : ref;
  return {
    door,
    origin: { channel: door, channelId, source: "user", depth: 0, userName, subject },
    ref,
    input,
    rule: "cancel-if-silent",
    requestId: c.var.requestId,
  };
}
