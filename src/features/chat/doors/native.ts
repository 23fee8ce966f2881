import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import { Overloaded, type Share } from "../../../core/limits/admission.ts";
import { Throttled } from "../../../core/limits/throttle.ts";
import { clientKey } from "../../../http/callers/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import type { Arrival, Caller, Grant, Seat, TurnRequest } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { followReplay, refusedStream, repeatedStream, type Streaming } from "../replay/stream.ts";
import { admitAt, countRefusal, type DoorGrant } from "./agent-key.ts";
import { readJson } from "./body.ts";
import { type AskedTurn, type Call, clientOf, findAnswered, readCall, requireRoom, shareOf, webTurn } from "./call.ts";
import { projectContext } from "./call-context.ts";
import { answerOrigin, type Cors } from "./cors.ts";
import { ChatRequest } from "./schema.ts";
import { CallThrottle, callerLimit } from "./throttle.ts";

/** The options of a stream, and the seat of its client. */
type SeatedStream = Streaming & { seat: Seat };

/** A door that answers with the native stream. */
export interface NativeDoor<Request extends ChatRequest = ChatRequest> {
  slug: string;
  by: Caller;
  body: z.ZodType<Request>;
  /** Throws the 403 of a request that the caller may not make. */
  turnOf(c: Context<AppEnv>, grant: DoorGrant, call: Call<Request>): AskedTurn;
}

/**
 * `POST /api/instances/{slug}/chat/stream`: the turn as typed events. The stream opens as soon as the turn has its
 * place; a later failure is an `error` event, then `done` (spec "Errors", rules 1 and 2).
 */
export async function streamChat(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  return answerNatively(c, chat, {
    slug,
    by: clientOf(c),
    body: ChatRequest,
    turnOf: (_, grant, call) => webTurn(c, grant, call, "native"),
  });
}

/** Admits a caller at a native door, takes the turn and answers the turn's stream. */
export async function answerNatively<Request extends ChatRequest>(
  c: Context<AppEnv>,
  chat: Chat,
  door: NativeDoor<Request>,
): Promise<Response> {
  const { services, turns } = chat;
  let call: Call<Request> | undefined;
  const held: { stream: SeatedStream | null; throttle: CallThrottle | null } = { stream: null, throttle: null };
  // Outside `serve`, so that the call keeps its place when the agent changed and it asks again.
  const arrival = turns.arrive(c.req.raw.signal);
  try {
    return await turns.agents.serve(door.slug, async (agent) => {
      const cors: Cors = answerOrigin(c, agent);
      requireRoom(c, chat, agent);
      const grant = admitAt(c, chat, { agent, ...door });
      // The guard of the playground has counted its calls.
      if (door.by.type === "client") held.throttle ??= new CallThrottle(chat, callerLimit(c, grant));
      held.throttle?.requireNotRefused();
      const proven = door.by.type === "session" || grant.holdsKey;
      call ??= await readCall(c, await readJson(c, { proven }), door.body);
      held.stream?.seat.leave();
      const seat = turns.streams.enter(clientKey(c.get("ip")), grant);
      const stream = { clock: services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave, seat };
      held.stream = stream;
      const asked = { ...door.turnOf(c, grant, call), callContext: projectContext(c, chat, call, grant) };
      const share = shareOf(c, grant.agent);
      return openStream(chat, grant, { asked, share, arrival, throttle: held.throttle }, stream);
    });
  } catch (refusal) {
    const isUncounted = door.by.type !== "client" || refusal instanceof Overloaded;
    if (!isUncounted) return refuse(counted(c, held.throttle, refusal), held.stream);
    return refuse(refusal, held.stream);
  } finally {
    arrival.leave();
  }
}

/** Counts a refused call of a client. Answers the refusal, or the 429 in its place. */
function counted(c: Context<AppEnv>, throttle: CallThrottle | null, refusal: unknown): unknown {
  try {
    countRefusal(c, refusal, throttle ? () => throttle.countRefused(c) : undefined);
    return refusal;
  } catch (throttled) {
    return throttled;
  }
}

async function openStream(
  chat: Chat,
  grant: Grant,
  {
    asked,
    share,
    arrival,
    throttle,
  }: { asked: AskedTurn; share: Share; arrival: Arrival; throttle: CallThrottle | null },
  stream: SeatedStream,
): Promise<Response> {
  const { turns, replays } = chat;
  const placed = await arrival.inOrder(asked.ref, share, async () => {
    const repeat = await findAnswered(chat, grant, asked);
    // A call that the throttle refuses must neither be answered nor write its context.
    if (repeat || asked.callContext) await throttle?.count();
    if (repeat) return { repeat, turn: null };
    const take = (counted: TurnRequest["throttle"]) => turns.takeTurn(grant, { ...asked, throttle: counted });
    return { repeat, turn: await (throttle ? throttle.handOver(take) : take(null)) };
  });
  if (placed.repeat) return repeatedStream(stream, asked.ref, placed.repeat);
  const replay = replays.get(placed.turn?.id ?? "");
  if (!replay) throw new Error("The events of a turn are not replayed");
  return followReplay(replay, 0, stream, stream.seat);
}

/**
 * Answers a refusal. Once the stream is prepared, refusals of the context, of a full waiting line and of a budget are
 * sent as events; others keep their HTTP status, as that of a throttle, which goes before all of them.
 */
function refuse(refusal: unknown, stream: SeatedStream | null): Response {
  if (!stream) throw refusal;
  const inStream =
    refusal instanceof EngineError &&
    !(refusal instanceof Throttled) &&
    ["bad-request", "too-large", "rate-limited"].includes(refusal.code);
  if (inStream) return refusedStream(stream, refusal);
  stream.seat.leave();
  throw refusal;
}
