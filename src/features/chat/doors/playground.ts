import type { Context } from "hono";
import { every } from "hono/combine";
import type { Ctx } from "../../../context/ctx.ts";
import { requirePermission } from "../../../context/membership.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import { requireInPerson } from "../../../http/callers/impersonation.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { findAgent, slugParam } from "../../agents/index.ts";
import type { Caller, Grant } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { resumeStream, stopTurn } from "../replay/resume.ts";
import { eventStreamAnswer, idempotencyHeader, lastEventHeader, messageParams, Stopped } from "../replay/schema.ts";
import type { ChatTurn } from "../request/admit.ts";
import { answerRequest, type Door } from "../request/answer.ts";
import type { ParsedRequest } from "../request/read.ts";
import { nativeEncoder } from "./native.ts";
import { PlaygroundRequest } from "./schema.ts";

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
      "The events of the native stream, for a signed-in person: without the agent's key, also while its Web channel is off or the agent is inactive; with `model` another model answers than the agent's. Its conversations are `<slug>:playground:<chat_id>`; `user` counts for those who may write memories. The `error` of a failed model call names its cause, such as a refused key or an unknown model; the other doors keep it to themselves. In an overload it is refused with 503 and `Retry-After`, as the other doors are.",
    request: { params: slugParam, headers: idempotencyHeader, body: jsonBody(PlaygroundRequest) },
    responses: { 200: eventStreamAnswer, ...errorAnswers(404, 409, 422) },
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

const door: Door<PlaygroundRequest> = {
  name: "playground",
  body: PlaygroundRequest,
  countedBy: "guard",
  refusesInStream: true,
  turnOf: playgroundTurn,
  encoderOf: nativeEncoder,
};

/** `/api/instances/{slug}/playground/stream`. */
export function playgroundRoutes(chat: Chat) {
  const routes = router();
  const { middleware, ...described } = play;
  routes.openAPIRegistry.registerPath(described);
  // `answerRequest` reads and validates the body, so the route is registered without validation.
  routes.post("/api/instances/:slug/playground/stream", every(...middleware), async (c) => {
    const slug = c.req.param("slug");
    const by = await personOf(c.get("ctx"), slug);
    return answerRequest(c, chat, door, { named: slug, by });
  });
  routes.openapi(resume, async (c) => {
    const { slug, messageId } = c.req.valid("param");
    return resumeStream(c, chat, { slug, by: await personOf(c.get("ctx"), slug), messageId, door: door.name });
  });
  routes.openapi(stop, async (c) => {
    const { slug, messageId } = c.req.valid("param");
    const by = await personOf(c.get("ctx"), slug);
    return c.json({ stopped: await stopTurn(c, chat, { slug, by, messageId, door: door.name }) }, 200);
  });
  return routes;
}

/** The signed-in caller. Throws the 403 for an impersonation, which takes part in no turn; the 404 for an unreachable agent. */
async function personOf(ctx: Ctx, slug: string): Promise<Caller> {
  requireInPerson(ctx.actor);
  await findAgent(ctx, slug);
  return { type: "session", ctx };
}

function playgroundTurn({ agent }: Grant, request: ParsedRequest<PlaygroundRequest>, c: Context<AppEnv>): ChatTurn {
  const { chatId, user } = request.input;
  const { model } = request.body;
  const channelId = chatId ?? newId();
  const ref = `${agent.row.slug}:playground:${channelId}`;
  const { actor, membership } = c.get("ctx");
  // Another model may cost more, so only people who could set it permanently may try it.
  if (model) requirePermission(membership, "agent:write");
  const userName = actor.name ?? "";
  // A turn for `user` writes that end user's memories, so it needs the permission to do so.
  const actsForUser = user !== null && membership.permissions.has("memory:write");
  const subject = actsForUser ? subjectKey("web", user) : subjectKey("conversation", ref);
  const turn: ChatTurn = {
    ref,
    origin: { channel: "playground", channelId, source: "user", depth: 0, userName, subject },
  };
  return model ? { ...turn, model } : turn;
}
