import type { Context } from "hono";
import type { Services } from "../../../context/ctx.ts";
import { tokenKind } from "../../../core/credentials/tokens.ts";
import { asEngineError } from "../../../core/errors.ts";
import { randomHex } from "../../../core/ids.ts";
import { Overloaded } from "../../../core/limits/admission.ts";
import { Throttled } from "../../../core/limits/throttle.ts";
import { agentSlugPattern } from "../../../core/text/names.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { countRefused } from "../../../http/callers/refused.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";
import { eventStream } from "../../../http/sse.ts";
import {
  AgentRefusal,
  type Arrival,
  bearer,
  endingError,
  type Seat,
  type StoredReply,
  type Turn,
  type TurnRequest,
} from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { admitAt, countRefusal, type DoorGrant } from "./agent-key.ts";
import { readJson } from "./body.ts";
import { type Call, clientOf, findAnswered, readCall, requireRoom, shareOf, webTurn } from "./call.ts";
import { projectContext } from "./call-context.ts";
import {
  approvalSentence,
  type ChunkEncoder,
  type ChunkRelay,
  type CompletionHead,
  chunkEncoder,
  completion,
  pendingSentence,
  relayChunks,
} from "./chunks.ts";
import { answerOrigin, type Cors } from "./cors.ts";
import { CompletionRequest } from "./schema.ts";
import { CallThrottle, chatLimit } from "./throttle.ts";

/** `POST /v1/chat/completions`. The order of refusals is decisions §5. */
export async function completeChat(c: Context<AppEnv>, chat: Chat): Promise<Response> {
  const limit = chatLimit(c);
  const throttle = limit && new CallThrottle(chat, limit);
  throttle?.requireNotRefused();
  // Outside `serve`, so that the call keeps its place when the agent changed and it asks again.
  const arrival = chat.turns.arrive(c.req.raw.signal);
  try {
    const json = await readJson(c, { proven: false });
    const slug = readModel(json.body);
    const by = clientOf(c);
    let call: Call<CompletionRequest> | undefined;
    return await chat.turns.agents.serve(slug, async (agent) => {
      const cors = answerOrigin(c, agent);
      requireRoom(c, chat, agent);
      const grant = admitAt(c, chat, { agent, slug, by });
      call ??= await readCall(c, json, CompletionRequest);
      return answer({ c, chat, throttle, arrival, grant, cors, call });
    });
  } catch (error) {
    if (error instanceof Overloaded) throw error;
    const refusal = forSession(c, error);
    try {
      countRefusal(c, refusal, () => {
        const byKey = refusal instanceof AgentRefusal || refusal instanceof Throttled;
        if (!throttle && byKey) countRefused(c);
      });
    } finally {
      // A refused call is counted here, and the throttle's 429 wins over its refusal. OPEN counts an admitted call.
      await throttle?.count();
    }
    throw refusal;
  } finally {
    arrival.leave();
  }
}

/** Points a signed-in user to the playground: sessions can't chat here. */
function forSession(c: Context<AppEnv>, refusal: unknown): unknown {
  const isSession = tokenKind(bearer(c.req.header("Authorization")) ?? "") === "session";
  if (!isSession || !(refusal instanceof AgentRefusal) || refusal.code !== "not-found") return refusal;
  return new AgentRefusal(
    "not-found",
    `${refusal.message}: this door takes the key of an agent whose Web channel is on. A session chats in the playground, POST /api/instances/{slug}/playground/stream`,
  );
}

/** The `model` of a body, read first, since the agent is admitted before the rest is validated. Throws the 400. */
function readModel(body: unknown): string {
  const model = body !== null && typeof body === "object" && "model" in body ? body.model : undefined;
  if (typeof model === "string" && agentSlugPattern.test(model)) return model;
  const parsed = CompletionRequest.pick({ model: true }).safeParse(body);
  throw invalid(parsed.success ? [{ path: ["model"], message: "must be an agent slug" }] : parsed.error.issues);
}

interface Admitted {
  c: Context<AppEnv>;
  chat: Chat;
  throttle: CallThrottle | null;
  arrival: Arrival;
  grant: DoorGrant;
  cors: Cors;
  call: Call<CompletionRequest>;
}

/** Answers an admitted call; every part of the answer uses the agent of the grant. */
async function answer(admitted: Admitted): Promise<Response> {
  const { c, chat, throttle, arrival, grant, call } = admitted;
  const { services, turns } = chat;
  const callContext = projectContext(c, chat, call, grant);
  const asked = { ...webTurn(c, grant, call, "completions"), callContext };
  const { stream, stream_options: options } = call.request;
  const head = { id: `chatcmpl-${randomHex(24)}`, created: seconds(services), agent: grant.agent };
  const encode = chunkEncoder(head, options?.include_usage === true);
  const seat = turns.streams.enter(clientKey(c.get("ip")), grant);
  try {
    const chunks = stream === true ? relayChunks(encode) : null;
    const { repeat, turn } = await arrival.inOrder(asked.ref, shareOf(c, grant.agent), async () => {
      const repeat = await findAnswered(chat, grant, asked);
      // A call that the throttle refuses must not write its context, so it is counted before.
      if (repeat || callContext) await throttle?.count();
      if (repeat) return { repeat, turn: null };
      const take = (counted: TurnRequest["throttle"]) =>
        turns.takeTurn(grant, { ...asked, whole: chunks === null, throttle: counted }, chunks?.listener);
      return { repeat, turn: await (throttle ? throttle.handOver(take) : take(null)) };
    });
    if (repeat) return repeatReply(admitted, { head, encode, seat }, repeat);
    const reply = { ...admitted, head, encode, seat, turn };
    return await (chunks ? streamReply(reply, chunks) : wholeReply(reply));
  } catch (refusal) {
    seat.leave();
    throw refusal;
  }
}

interface Form {
  head: CompletionHead;
  encode: ChunkEncoder;
  seat: Seat;
}

interface Reply extends Admitted, Form {
  turn: Turn;
}

async function wholeReply(reply: Reply): Promise<Response> {
  const { c, head, seat, turn } = reply;
  const outcome = await whileWanted(reply, turn.ended, () => turn.leave());
  seat.leave();
  const error = endingError(outcome);
  if (error) throw error;
  return c.json(completion(head, outcome.text + pendingSentence(outcome), outcome.usage), 200);
}

/** Awaits `work`. Calls `leave` when the client disconnects; calls `leave` and rejects when the seat is revoked. */
async function whileWanted<T>({ c, seat }: Reply, work: Promise<T>, leave: () => void): Promise<T> {
  const { signal } = c.req.raw;
  const revoked = Promise.withResolvers<never>();
  seat.onRevoked((refusal) => {
    leave();
    revoked.reject(refusal);
  });
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return Promise.race([work, revoked.promise]).finally(() => signal.removeEventListener("abort", leave));
}

/** Answers the stored reply of an earlier request again; a streamed answer has it as one delta. */
function repeatReply({ c, chat, cors, call }: Admitted, { head, encode, seat }: Form, reply: StoredReply): Response {
  const content = reply.content + approvalSentence(reply.content, reply.metadata.approval ? reply.pending : []);
  c.header("Idempotent-Replayed", "true");
  if (call.request.stream !== true) {
    seat.leave();
    return c.json(completion(head, content, reply), 200);
  }
  const { response, sink } = eventStream({
    clock: chat.services.clock,
    headers: { ...cors, "Idempotent-Replayed": "true" },
    signal: c.req.raw.signal,
    onEnd: seat.leave,
  });
  sink.write(encode.first + (content === "" ? "" : encode.text(content)) + encode.end(reply));
  sink.close();
  return response;
}

/**
 * Answers after the first output, so that an earlier failure has its real status. A later error is a `data:` line
 * without a finish reason, on which the official clients raise.
 */
async function streamReply(reply: Reply, chunks: ChunkRelay): Promise<Response> {
  const { c, chat, cors, turn, seat, encode } = reply;
  const leave = () => {
    chunks.mute();
    turn.leave();
  };
  const early = await whileWanted(reply, Promise.race([turn.ended, chunks.begun]), leave);
  const refusal = early && endingError(early);
  if (refusal) throw refusal;

  const { response, sink } = eventStream({
    clock: chat.services.clock,
    headers: cors,
    signal: c.req.raw.signal,
    onLeave: leave,
    onEnd: seat.leave,
  });
  chunks.open(sink.write);
  seat.onRevoked((revoked) => {
    chunks.write(encode.error(revoked));
    sink.close();
    leave();
  });
  turn.ended
    .then((outcome) => chunks.write(encode.last(outcome)))
    .catch((error: unknown) => chunks.write(encode.error(asEngineError(error))))
    .finally(sink.close);
  return response;
}

function seconds({ clock }: Services): number {
  return Math.floor(clock.now() / 1000);
}
