import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { type Feature, requireFeature } from "../../../core/edition.ts";
import { EngineError } from "../../../core/errors.ts";
import { Throttled } from "../../../core/limits/throttle.ts";
import type { AppEnv } from "../../../http/environment.ts";
import type { Caller, StoredReply, Turn } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import type { ChatRequest } from "../doors/schema.ts";
import { refusedStream } from "../replay/stream.ts";
import { type AdmittedRequest, admitCaller, type ChatTurn, countRefused, type ReplyStream, takeSeat } from "./admit.ts";
import type { DoorGrant } from "./agent-key.ts";
import { projectContext } from "./context.ts";
import { type ParsedRequest, readJson, readModel, readRequest } from "./read.ts";
import { type ReplyReader, takeTurn } from "./take.ts";
import { type CountedBy, RequestThrottle } from "./throttle.ts";

/** How the requests and replies of one chat endpoint differ from those of the others. */
export interface Door<Body extends ChatRequest = ChatRequest> {
  name: string;
  /** The feature of the managed edition that the endpoint belongs to; absent for an endpoint of both editions. */
  feature?: Feature;
  body: z.ZodType<Body>;
  countedBy: CountedBy;
  /** Whether the reply's stream opens before the context is read, so that later refusals are events of the stream. */
  refusesInStream: boolean;
  /** The turn that a request asks for. Throws the 403 of a request that the caller may not make. */
  turnOf(grant: DoorGrant, request: ParsedRequest<Body>, c: Context<AppEnv>): ChatTurn;
  encoderOf(request: AdmittedRequest<Body>): ReplyEncoder;
  /** Returns the refusal that the caller gets instead of `refusal`. */
  explain?(c: Context<AppEnv>, refusal: unknown): unknown;
}

/** Encodes the reply of one request. */
export interface ReplyEncoder extends ReplyReader {
  encode(turn: Turn): Response | Promise<Response>;
  /** Encodes the reply of an earlier request with the same `Idempotency-Key`. */
  repeat(stored: StoredReply): Response;
}

/**
 * Answers a request at any chat endpoint: reads it, admits it, takes its turn and encodes the reply. `named` is the
 * slug of the path; null where the body names the agent. The order of refusals is decisions §5.
 */
export async function answerRequest<Body extends ChatRequest>(
  c: Context<AppEnv>,
  chat: Chat,
  door: Door<Body>,
  { named, by }: { named: string | null; by: Caller },
): Promise<Response> {
  const throttle = new RequestThrottle(c, chat, door.countedBy);
  throttle.requireNotRefused();
  const arrival = chat.turns.arrive(c.req.raw.signal);
  // A changed agent repeats the attempt below. The request is not read again, and keeps its turn in the conversation.
  const kept: { request: ParsedRequest<Body> | null; stream: ReplyStream | null } = { request: null, stream: null };
  try {
    const json = named === null ? await readJson(c, { proven: false }) : null;
    const slug = named ?? readModel(json?.body);
    return await chat.turns.agents.serve(slug, async (agent) => {
      const { grant, cors } = admitCaller(c, chat, throttle, { agent, slug, by });
      if (door.feature) requireFeature(chat.services.options.edition, door.feature);
      const proven = by.type === "session" || grant.holdsKey;
      const request = kept.request ?? (await readRequest(c, json ?? (await readJson(c, { proven })), door.body));
      kept.request = request;
      const sit = () => takeSeat(c, chat, { grant, cors }, kept);
      const opened = door.refusesInStream ? sit() : null;
      const turn = door.turnOf(grant, request, c);
      const callContext = projectContext(c, chat, request, grant);
      const admitted = { c, chat, grant, request, turn, callContext, stream: opened ?? sit() };
      const encoder = door.encoderOf(admitted);
      const taken = await takeTurn(door.name, admitted, { throttle, arrival, reader: encoder });
      return taken.repeat ? encoder.repeat(taken.repeat) : encoder.encode(taken.turn);
    });
  } catch (error) {
    if (!door.refusesInStream) kept.stream?.seat.leave();
    return refuse(c, door, kept.stream, await countRefused(c, throttle, error));
  } finally {
    arrival.leave();
  }
}

/**
 * Answers a refusal. An open stream sends the refusals of the context, of a full conversation and of a budget as
 * events; other refusals, such as a throttle's, come before the stream and keep their HTTP status.
 */
function refuse<Body extends ChatRequest>(
  c: Context<AppEnv>,
  { refusesInStream, explain }: Door<Body>,
  stream: ReplyStream | null,
  refusal: unknown,
): Response {
  const isEvent =
    refusal instanceof EngineError &&
    !(refusal instanceof Throttled) &&
    ["bad-request", "too-large", "rate-limited"].includes(refusal.code);
  if (stream && refusesInStream && isEvent) return refusedStream(stream, refusal);
  stream?.seat.leave();
  throw explain ? explain(c, refusal) : refusal;
}
