import type { Context } from "hono";
import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { randomHex } from "../../core/ids.ts";
import { agentSlugPattern } from "../../core/slugs.ts";
import { clientKey } from "../../http/address.ts";
import type { AppEnv } from "../../http/environment.ts";
import { invalid, vendorType } from "../../http/errors.ts";
import { eventStream } from "../../http/sse.ts";
import { countCall, requireAllowed } from "../../http/throttle.ts";
import { isOutput } from "../../turn/relay.ts";
import type { JsonObject, TurnOutcome, Usage } from "../../turn/types.ts";
import { readContext } from "./context.ts";
import { type AdmittedCaller, type Asked, admitCaller, type Chat, commitContext, readJson, webTurn } from "./door.ts";
import { endingError } from "./ending.ts";
import { findRepeat, readIdempotency, type StoredReply } from "./idempotency.ts";
import { readInput } from "./input.ts";
import type { TurnRequest } from "./request.ts";
import { CompletionRequest } from "./schema.ts";
import type { Seat } from "./streams.ts";
import type { Turn } from "./turns.ts";

/** Spec "Limits": 20 requests a minute for each client address, whoever calls. */
const perMinute = { calls: 20, windowMs: 60_000 };

interface Admitted extends AdmittedCaller {
  request: CompletionRequest;
  asked: Asked;
  /** What an earlier request with the same key was answered. */
  repeat: StoredReply | null;
  /** To be written to the conversation's state before the turn; null for nothing. */
  context: JsonObject | null;
  seat: Seat;
}

/** `POST /v1/chat/completions`. The order of refusals is decisions §5. */
export async function completeChat(c: Context<AppEnv>, chat: Chat): Promise<Response> {
  const { services } = chat;
  const throttle = { key: `chat:${clientKey(c.var.ip)}`, limit: perMinute, now: services.clock.now() };
  requireNotRefused(chat, throttle);
  const admitted = await admitRequest(c, chat).catch(async (refusal) => {
    // The throttle comes first; an admitted call is counted by OPEN, which saves a statement.
    const verdict = await countCall(services, throttle.key, perMinute);
    const until = throttle.now + verdict.resetSeconds * 1000;
    if (!verdict.allowed) chat.refused.set(throttle.key, { verdict, until });
    requireAllowed(verdict);
    throw refusal;
  });
  return answer(c, chat, admitted, throttle).catch((refusal: unknown) => {
    admitted.seat.leave();
    throw refusal;
  });
}

/** Who was refused just now is refused again for nothing. */
function requireNotRefused({ refused }: Chat, { key, now }: { key: string; now: number }): void {
  const known = refused.get(key)?.value;
  if (!known || known.until <= now) return;
  requireAllowed({ ...known.verdict, resetSeconds: Math.max(1, Math.ceil((known.until - now) / 1000)) });
}

async function admitRequest(c: Context<AppEnv>, { services, agents, streams }: Chat): Promise<Admitted> {
  const { body, text } = await readJson(c);
  const slug = readModel(body);
  const { grant, cors } = await admitCaller(c, agents, slug);
  const parsed = CompletionRequest.safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues);
  const input = readInput(parsed.data, { get: (name) => c.req.header(name) });
  const context = await readContext(parsed.data.context, input, grant, agents);
  const idempotency = await readIdempotency(c.req.header("Idempotency-Key"), input.chatId, text);
  const asked = { ...webTurn(c, grant, input), door: "completions", idempotency };
  const repeat = idempotency && (await findRepeat(services.database, asked.ref, idempotency));
  const seat = streams.enter(clientKey(c.var.ip), grant);
  return { cors, grant, request: parsed.data, asked, repeat, context, seat };
}

async function answer(
  c: Context<AppEnv>,
  chat: Chat,
  admitted: Admitted,
  throttle: NonNullable<TurnRequest["throttle"]>,
): Promise<Response> {
  const { services, turns } = chat;
  const { request, asked, repeat, context } = admitted;
  let { grant } = admitted;
  if (repeat) {
    requireAllowed(await countCall(services, throttle.key, throttle.limit));
    return repeatReply(c, services, admitted, repeat);
  }
  if (context) {
    // What a refused call would write must not be there: it is counted before.
    requireAllowed(await countCall(services, throttle.key, throttle.limit));
    grant = await commitContext(chat, grant, asked, context);
  }
  const turn = await turns.takeTurn(grant, { ...asked, context, throttle: context ? null : throttle });
  const id = `chatcmpl-${randomHex(24)}`;
  const reply: Reply = { ...admitted, c, services, turn, id, created: seconds(services) };
  return request.stream === true ? streamReply(reply) : wholeReply(reply);
}

/** The agent has to be known before the rest of the body is looked at. */
function readModel(body: unknown): string {
  const model = body !== null && typeof body === "object" && "model" in body ? body.model : undefined;
  if (typeof model === "string" && agentSlugPattern.test(model)) return model;
  const parsed = CompletionRequest.pick({ model: true }).safeParse(body);
  throw invalid(parsed.success ? [{ path: ["model"], message: "must be an agent slug" }] : parsed.error.issues);
}

interface Reply extends Admitted {
  c: Context<AppEnv>;
  services: Services;
  turn: Turn;
  id: string;
  created: number;
}

async function wholeReply(reply: Reply): Promise<Response> {
  const { c, grant, seat, turn, id, created } = reply;
  turn.listen(ignore);
  const outcome = await whileWanted(reply, turn.ended);
  seat.leave();
  const error = endingError(outcome);
  if (error) throw error;
  return c.json(completion({ id, created, grant }, outcome.text + pendingSentence(outcome), outcome.usage), 200);
}

/** What the caller waits for, as long as he does and may: who leaves leaves the turn, and who is revoked is refused. */
async function whileWanted<T>({ c, seat, turn }: Reply, work: Promise<T>): Promise<T> {
  const { signal } = c.req.raw;
  const revoked = Promise.withResolvers<never>();
  const leave = () => {
    turn.listen(ignore);
    turn.leave();
  };
  seat.onRevoked((refusal) => {
    leave();
    revoked.reject(refusal);
  });
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return Promise.race([work, revoked.promise]).finally(() => signal.removeEventListener("abort", leave));
}

type Head = Pick<Reply, "id" | "created" | "grant">;

function completion({ id, created, grant }: Head, content: string, usage: Usage) {
  return {
    id,
    object: "chat.completion",
    created,
    model: grant.agent.row.slug,
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: wireUsage(usage),
  };
}

/** The same answer once more, streamed as one delta. */
function repeatReply(c: Context<AppEnv>, services: Services, admitted: Admitted, reply: StoredReply): Response {
  const { cors, grant, request, seat } = admitted;
  const head = { id: `chatcmpl-${randomHex(24)}`, created: seconds(services), grant, request };
  const content = reply.content + approvalSentence(reply.content, reply.metadata.approval ? reply.pending : []);
  c.header("Idempotent-Replayed", "true");
  if (request.stream !== true) {
    seat.leave();
    return c.json(completion(head, content, reply), 200);
  }
  const encode = chunkEncoder(head);
  const headers = { ...cors, "Idempotent-Replayed": "true" };
  const { response, sink } = eventStream({
    ...{ clock: services.clock, headers, signal: c.req.raw.signal },
    onEnd: seat.leave,
  });
  sink.write(encode.first + (content === "" ? "" : encode.text(content)) + encode.end(reply));
  sink.close();
  return response;
}

/**
 * Answers when the first output is there, so that a failure before it has its real status; from then on an error is a
 * line in the stream, without a finish reason: the official clients raise on it.
 */
async function streamReply(reply: Reply): Promise<Response> {
  const { c, services, cors, turn, seat } = reply;
  const { signal } = c.req.raw;
  const encode = chunkEncoder(reply);
  const begun = Promise.withResolvers<null>();
  let pending = encode.first;
  let write = (text: string) => {
    pending += text;
  };
  turn.listen((event) => {
    if (event.type === "text-delta") write(encode.text(event.text));
    if (isOutput(event)) begun.resolve(null);
  });

  const leave = () => {
    turn.listen(ignore);
    turn.leave();
  };
  const early = await whileWanted(reply, Promise.race([turn.ended, begun.promise]));
  const refusal = early && endingError(early);
  if (refusal) throw refusal;

  const { response, sink } = eventStream({
    clock: services.clock,
    headers: cors,
    signal,
    onLeave: leave,
    onEnd: seat.leave,
  });
  write = sink.write;
  write(pending);
  seat.onRevoked((revoked) => {
    write(encode.error(revoked));
    sink.close();
    leave();
  });
  turn.ended
    .then((outcome) => write(encode.last(outcome)))
    .catch((error: unknown) => write(encode.error(asEngineError(error))))
    .finally(sink.close);
  return response;
}

/** What a listener does that is let go of. */
const ignore = () => {};

function chunkEncoder({ id, created, grant, request }: Head & Pick<Reply, "request">) {
  const { slug, streamUsageEnabled } = grant.agent.row;
  const head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(slug)},`;
  const chunk = (delta: string, finish: string) =>
    `${head}"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  const done = "data: [DONE]\n\n";
  const error = ({ message, status, code }: EngineError) =>
    `data: ${JSON.stringify({ error: { message, type: vendorType(status), code } })}\n\n${done}`;
  const usage = (tokens: Usage) => `${head}"choices":[],"usage":${JSON.stringify(wireUsage(tokens))}}\n\n`;
  const withUsage = streamUsageEnabled && request.stream_options?.include_usage === true;
  const end = (tokens: Usage) => chunk("{}", `"stop"`) + (withUsage ? usage(tokens) : "") + done;

  return {
    first: chunk(`{"role":"assistant","content":""}`, "null"),
    text: (text: string) => chunk(`{"content":${JSON.stringify(text)}}`, "null"),
    error,
    last(outcome: TurnOutcome) {
      const failure = endingError(outcome);
      if (failure) return error(failure);
      const waiting = pendingSentence(outcome);
      const text = waiting === "" ? "" : chunk(`{"content":${JSON.stringify(waiting)}}`, "null");
      return text + end(outcome.usage);
    },
    end,
  };
}

/** What stands behind the text of a turn that stopped for a person's decision; empty for all others. */
function pendingSentence(outcome: TurnOutcome): string {
  if (outcome.status !== "approval") return "";
  return approvalSentence(
    outcome.text,
    outcome.pending.map(({ toolName }) => toolName),
  );
}

function approvalSentence(text: string, tools: readonly string[]): string {
  if (tools.length === 0) return "";
  return `${text === "" ? "" : "\n\n"}Approval is pending for: ${[...new Set(tools)].join(", ")}.`;
}

function wireUsage({ promptTokens, completionTokens }: Usage) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError("internal", "Internal server error", { cause: error });
}

function seconds({ clock }: Services): number {
  return Math.floor(clock.now() / 1000);
}
