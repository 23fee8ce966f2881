import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import { clientKey } from "../../../http/address.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { admit, type Caller, type Grant, type Seat } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { followReplay, refusedStream, repeatedStream, type Streaming } from "../replay/stream.ts";
import { readJson } from "./body.ts";
import { type AskedTurn, type Call, clientOf, findAnswered, readCall, webTurn } from "./call.ts";
import { projectContext } from "./call-context.ts";
import { answerOrigin, type Cors } from "./cors.ts";
import { ChatRequest } from "./schema.ts";

/** The options of a stream, and the seat of its client. */
type SeatedStream = Streaming & { seat: Seat };

/** A door that answers with the native stream. */
export interface NativeDoor {
  slug: string;
  by: Caller;
  turnOf(c: Context<AppEnv>, grant: Grant, call: Call): AskedTurn;
}

/**
 * `POST /api/instances/{slug}/chat/stream`: the turn as typed events. The stream opens as soon as the turn has its
 * place; a later failure is an `error` event, then `done` (spec "Errors", rules 1 and 2).
 */
export async function streamChat(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  return answerNatively(c, chat, {
    slug,
    by: clientOf(c),
    turnOf: (_, grant, call) => webTurn(c, grant, call, "native"),
  });
}

/** Admits a caller at a native door, takes the turn and answers the turn's stream. */
export async function answerNatively(c: Context<AppEnv>, chat: Chat, door: NativeDoor): Promise<Response> {
  const { services, turns } = chat;
  let call: Call | undefined;
  const held: { stream: SeatedStream | null } = { stream: null };
  try {
    return await turns.agents.serve(door.slug, async (agent) => {
      const cors: Cors = answerOrigin(c, agent);
      const grant = admit(agent, door.slug, door.by);
      call ??= await readCall(c, await readJson(c), ChatRequest);
      held.stream?.seat.leave();
      const seat = turns.streams.enter(clientKey(c.var.ip), grant);
      const stream = { clock: services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave, seat };
      held.stream = stream;
      return openStream(chat, grant, { call, asked: door.turnOf(c, grant, call) }, stream);
    });
  } catch (refusal) {
    return refuse(refusal, held.stream);
  }
}

async function openStream(
  chat: Chat,
  grant: Grant,
  { call, asked }: { call: Call; asked: AskedTurn },
  stream: SeatedStream,
): Promise<Response> {
  const { turns, replays } = chat;
  const callContext = projectContext(call, grant);
  const placed = await turns.inOrder(asked.ref, async () => {
    const repeat = await findAnswered(chat, grant, asked);
    return { repeat, turn: repeat ? null : await turns.takeTurn(grant, { ...asked, callContext, throttle: null }) };
  });
  if (placed.repeat) return repeatedStream(stream, asked.ref, placed.repeat);
  const replay = replays.get(placed.turn?.id ?? "");
  if (!replay) throw new Error("The events of a turn are not replayed");
  return followReplay(replay, 0, stream, stream.seat);
}

/**
 * Answers a refusal. Once the stream is prepared, refusals of the context, of a full waiting line and of a budget are
 * sent as events; others keep their HTTP status.
 */
function refuse(refusal: unknown, stream: SeatedStream | null): Response {
  if (!stream) throw refusal;
  const inStream =
    refusal instanceof EngineError && ["bad-request", "too-large", "rate-limited"].includes(refusal.code);
  if (inStream) return refusedStream(stream, refusal);
  stream.seat.leave();
  throw refusal;
}
