import type { Context } from "hono";
import { EngineError } from "../../core/errors.ts";
import { clientKey } from "../../http/address.ts";
import type { AppEnv } from "../../http/environment.ts";
import { invalid } from "../../http/errors.ts";
import type { Grant } from "./admit.ts";
import { readContext } from "./context.ts";
import { type Asked, admitCaller, type Chat, commitContext, readJson, webTurn } from "./door.ts";
import { findRepeat, readIdempotency } from "./idempotency.ts";
import { type ChatInput, readInput } from "./input.ts";
import { ChatRequest } from "./schema.ts";
import { followReplay, refusedStream, repeatedStream, type Streaming } from "./stream.ts";
import type { Seat } from "./streams.ts";

/**
 * `POST /api/instances/{slug}/chat/stream`: everything that happens in the turn, as typed events. The stream opens as
 * soon as the turn has its place; what goes wrong later is an `error` event and `done` (spec "Errors", rules 1 and 2).
 */
export async function streamChat(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  const { grant, cors } = await admitCaller(c, chat.agents, slug);
  return answerNatively(c, chat, grant, { cors, turnOf: webTurn });
}

interface Door {
  cors: Record<string, string>;
  turnOf(c: Context<AppEnv>, grant: Grant, input: ChatInput): Asked;
}

/** What every native door does once it knows that its caller may talk to the agent. */
export async function answerNatively(
  c: Context<AppEnv>,
  chat: Chat,
  grant: Grant,
  { cors, turnOf }: Door,
): Promise<Response> {
  const { services, agents, streams } = chat;
  const { body, text } = await readJson(c);
  const parsed = ChatRequest.safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues);
  const input = readInput(parsed.data, { get: (name) => c.req.header(name) });
  const idempotency = await readIdempotency(c.req.header("Idempotency-Key"), input.chatId, text);
  const seat = streams.enter(clientKey(c.var.ip), grant);
  const streaming = { clock: services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave };
  const asked = { ...turnOf(c, grant, input), idempotency };
  try {
    const context = await readContext(parsed.data.context, input, grant, agents);
    const repeat = idempotency && (await findRepeat(services.database, asked.ref, idempotency));
    if (repeat) return repeatedStream(streaming, asked.ref, repeat);
    const current = context ? await commitContext(chat, grant, asked, context) : grant;
    return await streamTurn(chat, current, { ...asked, context }, streaming, seat);
  } catch (refusal) {
    if (comesInStream(refusal)) return refusedStream(streaming, refusal);
    seat.leave();
    throw refusal;
  }
}

/** Of the refusals before a turn, those that natively follow the 401s: of the call's context, of a full line, of a budget. */
function comesInStream(refusal: unknown): refusal is EngineError {
  return refusal instanceof EngineError && ["bad-request", "too-large", "rate-limited"].includes(refusal.code);
}

async function streamTurn(
  { turns, replays }: Chat,
  grant: Grant,
  asked: Asked,
  streaming: Streaming,
  seat: Seat,
): Promise<Response> {
  const turn = await turns.takeTurn(grant, { ...asked, throttle: null });
  const { ref, door, input } = asked;
  const stored = input.chatId !== null;
  const replay = replays.keep(turn, { agentId: grant.agent.row.id, ref, door, stored, continues: null });
  return followReplay(replay, 0, streaming, seat);
}
