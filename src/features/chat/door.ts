import type { Context } from "hono";
import type { Services } from "../../context.ts";
import type { TtlCache } from "../../core/cache.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { parseJson } from "../../core/json.ts";
import { limitBody } from "../../http/body.ts";
import type { AppEnv } from "../../http/environment.ts";
import { invalid } from "../../http/errors.ts";
import type { Verdict } from "../../http/throttle.ts";
import type { TurnOutcome } from "../../turn/types.ts";
import type { Agents, Grant } from "./admit.ts";
import type { ChatInput } from "./input.ts";
import type { OpenStreams } from "./streams.ts";
import type { TurnRequest, Turns } from "./turns.ts";

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
  /** Verdicts of the fixed throttle that refuse, by its key: until their window ends nothing of a call is looked at. */
  refused: TtlCache<RefusedCall>;
}

/** What both doors ask of a turn in the same way. */
export type Asked = Pick<TurnRequest, "origin" | "ref" | "input" | "rule" | "requestId">;

/** The request of a turn that came in by the web, whichever of the two doors it took. */
export function webTurn(c: Context<AppEnv>, { agent }: Grant, input: ChatInput): Asked {
  const { slug } = agent.row;
  const channelId = input.chatId === null ? newId() : `api-${input.chatId}`;
  const ref = `${slug}:web:${channelId}`;
  const subject = input.user ?? ref;
  return {
    origin: { channel: "web", channelId, source: "user", depth: 0, subject },
    ref,
    input,
    rule: "cancel-if-silent",
    requestId: c.var.requestId,
  };
}

/** What to tell the caller of a turn that did not end well; null when it did. */
export function endingError(outcome: TurnOutcome): EngineError | null {
  if (outcome.status === "failed") {
    const { code, message, retryAfterSeconds } = outcome.failure;
    const headers = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
    return new EngineError(code, message, { headers });
  }
  if (outcome.status !== "aborted" || outcome.reason === "stop") return null;
  return new EngineError("unavailable", abortMessages[outcome.reason], { headers: { "Retry-After": "5" } });
}

const abortMessages = {
  disconnect: "The client left before the turn began",
  shutdown: "The server is stopping",
  "lease-lost": "The turn was interrupted",
} as const;

/**
 * CORS for the chat doors, by the agent's own list of origins (decisions §3). Prepared before anything is refused, so
 * that a page can read the refusal too; answered for responses that are made from scratch.
 */
export async function allowOrigin(c: Context<AppEnv>, agents: Agents, slug: string): Promise<Record<string, string>> {
  const origin = c.req.header("Origin");
  const allowed = origin === undefined ? [] : await agents.allowedOrigins(slug);
  if (origin === undefined || !(allowed.includes(origin) || allowed.includes("*"))) return {};
  const headers = {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After",
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

/** Reads a body as JSON. Throws the 400, 413 and 415 of decisions §3. */
export async function readJson(c: Context<AppEnv>): Promise<unknown> {
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
  return body;
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
