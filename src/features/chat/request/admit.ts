import type { Context } from "hono";
import { Overloaded, type Share } from "../../../core/limits/admission.ts";
import { Throttled } from "../../../core/limits/throttle.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { originOfForeignPage } from "../../../http/callers/origin.ts";
import type { AppEnv } from "../../../http/environment.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { AgentRefusal, type Caller, type LiveAgent, type Seat, type TurnRequest } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import type { ChatRequest } from "../doors/schema.ts";
import type { Streaming } from "../replay/stream.ts";
import { admitAt, countRefusal, type DoorGrant } from "./agent-key.ts";
import { answerOrigin, type Cors } from "./cors.ts";
import type { ParsedRequest } from "./read.ts";
import type { RequestThrottle } from "./throttle.ts";

/** The turn that a request asks for. */
export type ChatTurn = Pick<TurnRequest, "ref" | "origin" | "model">;

/** A reply's stream, and its client's permit for an open reply. A reply that is not streamed uses the permit only. */
export type ReplyStream = Streaming & { seat: Seat };

/** A request that passed all checks of its endpoint. */
export interface AdmittedRequest<Body extends ChatRequest = ChatRequest> {
  c: Context<AppEnv>;
  chat: Chat;
  grant: DoorGrant;
  request: ParsedRequest<Body>;
  turn: ChatTurn;
  callContext: JsonObject | null;
  stream: ReplyStream;
}

/** The caller of an endpoint that requires the agent's key. */
export function clientOf(c: Context<AppEnv>): Caller {
  return { type: "client", authorization: c.req.header("Authorization"), origin: originOfForeignPage(c) };
}

/** The organization, agent and client address whose share of the server a request takes. */
export function shareOf(c: Context<AppEnv>, { row }: LiveAgent): Share {
  return [row.organizationId, row.slug, clientKey(c.get("ip"))];
}

/**
 * Admits a caller by the request's head, and sets the CORS headers. Throws, in this order: `Overloaded`, before it
 * reads credentials; the refusals of the agent and its key; the 429 of a caller that this throttle window refused.
 */
export function admitCaller(
  c: Context<AppEnv>,
  chat: Chat,
  throttle: RequestThrottle,
  { agent, slug, by }: { agent: LiveAgent | null; slug: string; by: Caller },
): { grant: DoorGrant; cors: Cors } {
  const cors = answerOrigin(c, agent);
  if (agent) chat.services.admission.requireRoom(shareOf(c, agent));
  const grant = admitAt(c, chat, { agent, slug, by });
  if (throttle.countedBy === "caller") {
    throttle.limitCaller(grant.holdsKey ? grant.agent.row.id : null);
    throttle.requireNotRefused();
  }
  return { grant, cors };
}

/** Takes the client's permit for an open reply; an earlier attempt's is given back. Throws the 429 of too many. */
export function takeSeat(
  c: Context<AppEnv>,
  { services, turns }: Chat,
  { grant, cors }: { grant: DoorGrant; cors: Cors },
  kept: { stream: ReplyStream | null },
): ReplyStream {
  kept.stream?.seat.leave();
  const seat = turns.streams.enter(clientKey(c.get("ip")), grant);
  kept.stream = { clock: services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave, seat };
  return kept.stream;
}

/**
 * Counts a refused request, and its key if that was wrong. Returns the refusal, or the 429 that replaces it. Requests
 * refused in an overload are not counted.
 */
export async function countRefused(c: Context<AppEnv>, throttle: RequestThrottle, refusal: unknown): Promise<unknown> {
  const { countedBy } = throttle;
  if (countedBy === "guard" || refusal instanceof Overloaded) return refusal;
  // Where completions have no limit of their own, the policy `rateLimit` counts the refused requests of a caller.
  const isOfCaller = refusal instanceof AgentRefusal || refusal instanceof Throttled;
  const counts = countedBy === "caller" || (!throttle.isLimited && isOfCaller);
  try {
    try {
      countRefusal(c, refusal, () => counts && throttle.countRefused());
    } finally {
      // Counts in any case: the 429 of the address precedes that of wrong keys.
      if (countedBy === "address") await throttle.count();
    }
    return refusal;
  } catch (throttled) {
    return throttled;
  }
}
