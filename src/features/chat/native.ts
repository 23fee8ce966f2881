import type { Context } from "hono";
import { EngineError } from "../../core/errors.ts";
import { clientKey } from "../../http/address.ts";
import type { AppEnv } from "../../http/environment.ts";
import { invalid } from "../../http/errors.ts";
import { eventStream } from "../../http/sse.ts";
import type { TurnEvent, TurnOutcome } from "../../turn/types.ts";
import type { Grant } from "./admit.ts";
import { type Asked, allowOrigin, type Chat, endingError, readJson, webTurn } from "./door.ts";
import { readInput } from "./input.ts";
import { approvalMetadata } from "./record.ts";
import { ChatRequest } from "./schema.ts";
import type { Seat } from "./streams.ts";
import { LineFull } from "./turns.ts";

type Streaming = Parameters<typeof eventStream>[0];

/**
 * `POST /api/instances/{slug}/chat/stream`: everything that happens in the turn, as typed events. The stream opens as
 * soon as the turn has its place; what goes wrong later is an `error` event and `done` (spec "Errors", rules 1 and 2).
 */
export async function streamChat(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  const { services, agents, streams } = chat;
  const cors = await allowOrigin(c, agents, slug);
  const grant = await agents.admit(slug, c.req.header("Authorization"));
  const parsed = ChatRequest.safeParse(await readJson(c));
  if (!parsed.success) throw invalid(parsed.error.issues);
  const input = readInput(parsed.data, { get: (name) => c.req.header(name) });
  const seat = streams.enter(clientKey(c.var.ip), grant);
  const streaming = { clock: services.clock, headers: cors, signal: c.req.raw.signal, onEnd: seat.leave };
  return streamTurn(chat, grant, webTurn(c, grant, input), streaming, seat).catch((refusal: unknown) => {
    seat.leave();
    throw refusal;
  });
}

async function streamTurn(
  { turns }: Chat,
  grant: Grant,
  asked: Asked,
  streaming: Streaming,
  seat: Seat,
): Promise<Response> {
  const turn = await turns.takeTurn(grant, { ...asked, door: "native", throttle: null }).catch((refusal: unknown) => {
    if (refusal instanceof LineFull) return refusal;
    throw refusal;
  });
  if (turn instanceof LineFull) return refusedStream(streaming, turn);

  const { response, sink } = eventStream({ ...streaming, onLeave: () => turn.leave() });
  // Something has to go out for every runtime to send the headers.
  sink.write(": ping\n\n");
  const encode = eventEncoder(turn.id);
  const fail = (message: string) =>
    sink.write(encode("error", { message }) + encode("done", { conversationId: asked.ref, messageId: null }));
  seat.onRevoked((refusal) => {
    fail(refusal.message);
    sink.close();
    turn.leave();
  });
  turn.listen((event) => {
    const wire = wireEvent(event);
    if (wire) sink.write(encode(event.type, wire));
  });
  turn.ended
    .then((outcome) => {
      const error = endingError(outcome);
      if (error) sink.write(encode("error", { message: error.message }));
      const messageId = isStored(outcome) ? turn.id : null;
      const metadata = outcome.status === "approval" ? { metadata: { approval: approvalMetadata(outcome) } } : {};
      sink.write(encode("done", { conversationId: asked.ref, messageId, ...metadata }));
    })
    .catch((error: unknown) => fail(error instanceof EngineError ? error.message : "Internal server error"))
    .finally(sink.close);
  return response;
}

/** A refusal after everything that has an HTTP status: `error`, and `done` without ids (spec "Errors", rule 2). */
function refusedStream(streaming: Streaming, { message }: LineFull): Response {
  const { response, sink } = eventStream(streaming);
  const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  sink.write(event("error", { message }) + event("done", { conversationId: null, messageId: null }));
  sink.close();
  return response;
}

/** Numbers the events: the id is what a stream is resumed by. */
function eventEncoder(turnId: string) {
  let number = 0;
  return (type: string, data: object) => {
    number += 1;
    return `id: ${turnId}:${number}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  };
}

/** The data of an event as the spec's table has it; null for what has no wire form. */
function wireEvent(event: TurnEvent): object | null {
  switch (event.type) {
    case "produced":
      return null;
    case "step-start":
      return { index: event.index, stepType: event.stepType };
    case "reasoning-delta":
    case "text-delta":
      return { text: event.text };
    case "tool-call":
      return { id: event.id, name: event.name, args: event.args };
    case "tool-result":
      return { id: event.id, result: event.result };
    case "step-finish":
      return { index: event.index, finishReason: event.finishReason };
  }
}

function isStored({ status, produced }: TurnOutcome): boolean {
  return status === "done" || status === "approval" || produced;
}
