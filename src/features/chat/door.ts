import type { Context } from "hono";
import type { Services } from "../../context.ts";
import type { TtlCache } from "../../core/cache.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { parseJson } from "../../core/json.ts";
import { limitBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/environment.ts";
import { invalid } from "../../http/errors.ts";
import { originOfForeignPage } from "../../http/origin.ts";
import type { Verdict } from "../../http/throttle.ts";
import type { JsonObject } from "../../turn/types.ts";
import type { Agents, Grant } from "./admit.ts";
import { writeContext } from "./context.ts";
import type { ForeignTurns } from "./follow.ts";
import type { ChatInput } from "./input.ts";
import type { Replays } from "./replay.ts";
import type { TurnRequest } from "./request.ts";
import type { OpenStreams } from "./streams.ts";
import type { Turns } from "./turns.ts";

/** A call that the fixed throttle refused, and until when it does. */
export interface RefusedCall {
  verdict: Verdict;
  until: number;
}

/** What the doors work with. */
export interface Chat {
  services: Services;
  agents: Agents;
  turns: Turns;
  streams: OpenStreams;
  replays: Replays;
  foreign: ForeignTurns;
  /** Verdicts of the fixed throttle that refuse, by its key: until their window ends nothing of a call is looked at. */
  refused: TtlCache<RefusedCall>;
}

/** What both doors ask of a turn in the same way. */
export type Asked = Omit<TurnRequest, "throttle" | "resumed">;

/** The request of a turn that came in by the native door. */
export function webTurn(c: Context<AppEnv>, { agent }: Grant, input: ChatInput): Asked {
  const { slug } = agent.row;
  const channelId = input.chatId === null ? newId() : `api-${input.chatId}`;
  const ref = `${slug}:web:${channelId}`;
  const subject = input.user ?? ref;
  return {
    door: "native",
    origin: { channel: "web", channelId, source: "user", depth: 0, subject },
    ref,
    input,
    rule: "cancel-if-silent",
    requestId: c.var.requestId,
  };
}

/**
 * Writes a request's context before its turn. Answers the grant to go on with; the agent may have changed. Throws 413,
 * and the refusals of an agent that can't be talked to any more.
 */
export async function commitContext(
  { services, agents }: Chat,
  grant: Grant,
  { ref, origin }: Asked,
  values: JsonObject,
): Promise<Grant> {
  const { channel, channelId, subject } = origin;
  let current = grant;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const { id: agentId, revision: agentRevision } = current.agent.row;
    const conversation = { id: newId(), ref, channel, channelId };
    if (await writeContext(services.database, { agentId, agentRevision, conversation, subject }, values))
      return current;
    current = await agents.readmit(current);
  }
  throw new EngineError("unavailable", "The agent is being changed; try again", { headers: { "Retry-After": "1" } });
}

/** Somebody who may talk to the agent, and the headers by which his page may read a response that is made from scratch. */
export interface AdmittedCaller {
  grant: Grant;
  cors: Record<string, string>;
}

/** Lets a caller in to an agent by its key. Throws the 404, the 401, and the 403 of a foreign page where none is asked for. */
export async function admitCaller(c: Context<AppEnv>, agents: Agents, slug: string): Promise<AdmittedCaller> {
  const cors = await allowOrigin(c, agents, slug);
  return { grant: await agents.admit(slug, c.req.header("Authorization"), originOfForeignPage(c)), cors };
}

/**
 * CORS for the chat doors, by the agent's own list of origins (decisions §3). Prepared before anything is refused, so
 * that a page can read the refusal too.
 */
async function allowOrigin(c: Context<AppEnv>, agents: Agents, slug: string): Promise<Record<string, string>> {
  const origin = c.req.header("Origin");
  if (origin === undefined || !(await agents.allowsOrigin(slug, origin))) return {};
  const headers = {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, Idempotent-Replayed",
    Vary: "Origin",
  };
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return headers;
}

/** Answers a preflight. The request that follows is what is checked: only it knows the agent. */
export function preflight(c: Context<AppEnv>, origin: string | null): Response {
  if (origin === null) return c.body(null, 204);
  return c.body(null, 204, {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "GET, POST, DELETE",
    "Access-Control-Allow-Headers": c.req.header("Access-Control-Request-Headers") ?? "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
    Vary: "Origin",
  });
}

/** Reads a body as JSON, and as the text it was. Throws the 400, 413 and 415 of decisions §3. */
export async function readJson(c: Context<AppEnv>): Promise<{ body: unknown; text: string }> {
  const type = c.req.header("Content-Type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !type.endsWith("+json")) {
    throw new EngineError("unsupported-media-type", "Content-Type must be application/json");
  }
  await limitBody(c);
  const text = await c.req.text();
  let body: unknown;
  try {
    body = parseJson(text, deepestBody);
  } catch {
    throw new EngineError("bad-request", "The body is not valid JSON");
  }
  requireFewParts(body);
  return { body, text };
}

/** No request of a chat client comes near it. */
const deepestBody = 200;

/** So many parts all messages may have together; looked at by hand, since each wrong one costs a validator dearly. */
const mostParts = 1000;

function requireFewParts(body: unknown): void {
  if (typeof body !== "object" || body === null || !("messages" in body) || !Array.isArray(body.messages)) return;
  let parts = 0;
  for (const message of body.messages.slice(0, 101)) {
    const content: unknown = typeof message === "object" && message !== null ? message.content : undefined;
    parts += Array.isArray(content) ? content.length : 0;
  }
  if (parts > mostParts)
    throw invalid([{ path: ["messages"], message: `must hold at most ${mostParts} parts in all` }]);
}
