import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { EgressError } from "../../../core/egress/target.ts";
import { isObject } from "../../../core/json.ts";
import type { IncomingBytes } from "../../../core/limits/byte-bound.ts";
import { eventReader } from "../../event-stream.ts";
import { listExcess, mostWireBytes, textExcess } from "./bounds.ts";
import { mendAnswer } from "./mend.ts";

export type RequestId = string | number;

/** The most events of one response; nearly all are progress notifications. */
const mostEvents = 1_000;

/**
 * Reads the response to one JSON-RPC request, as JSON text, from an HTTP body. The body is JSON or a stream of events,
 * of which notifications, requests and other responses are dropped. Throws an `EgressError` if the response is missing.
 */
export async function readAnswer(response: IncomingMessage, id: RequestId, incoming: IncomingBytes): Promise<string> {
  const type = response.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "text/event-stream") {
    let events = 0;
    for await (const data of eventData(response, incoming)) {
      events += 1;
      if (events > mostEvents) throw new EgressError(`The server sent more than ${mostEvents} events in one answer`);
      const answer = answerIn(data, id);
      if (answer !== null) return answer;
    }
    throw new EgressError("The server closed the stream before it answered");
  }
  if (type !== "application/json") {
    const what = /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "something else";
    throw new EgressError(`The server answers with ${what}, not JSON: is this the address of an MCP server?`);
  }
  const answer = answerIn(await readText(response, mostWireBytes, incoming), id);
  if (answer === null) throw new EgressError("What the server sent is no answer to the request");
  return answer;
}

/** Reads the whole body as text; throws an `EgressError` if it is longer than `limit` bytes. */
export async function readText(response: IncomingMessage, limit: number, incoming: IncomingBytes): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of bounded(response, limit, incoming)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

async function* bounded(response: IncomingMessage, limit: number, incoming: IncomingBytes): AsyncGenerator<Uint8Array> {
  const coding = response.headers["content-encoding"] ?? "identity";
  if (coding !== "identity") throw new EgressError("The server compresses its answers though it was asked not to");
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new EgressError(`The server's answer is larger than ${limit / 1024} KiB`);
    incoming.grow(chunk.length);
    yield chunk;
    // Chunks that are buffered already come without a pause, and would block other work.
    await setImmediate();
  }
}

/** The data of a stream's events (WHATWG "Server-sent events"): one text for each event that has data. */
async function* eventData(response: IncomingMessage, incoming: IncomingBytes): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let texts: string[] = [];
  const read = eventReader(({ data }) => texts.push(data));
  for await (const chunk of bounded(response, mostWireBytes, incoming)) {
    read(decoder.decode(chunk, { stream: true }));
    yield* texts.filter((text) => text.trim() !== "");
    texts = [];
  }
}

/**
 * The response to the request, as JSON text, from one message or a batch; null if there is none. Throws an
 * `EgressError` for a text that is nested too deeply or has too many values to be parsed.
 */
function answerIn(text: string, id: RequestId): string | null {
  requireWithin(textExcess(text));
  const parsed = parse(text);
  const messages: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const answer = messages.find((message): message is object => isAnswer(message, id)) ?? refusal(messages, id);
  if (answer === undefined) return null;
  requireWithin(listExcess(answer));
  return JSON.stringify(mendAnswer(answer));
}

function requireWithin(excess: string | null): void {
  if (excess !== null) throw new EgressError(`The server's answer ${excess}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** An error without an id: the server failed before it read the request's id (JSON-RPC 2.0, section 5). */
function refusal(messages: readonly unknown[], id: RequestId): object | undefined {
  const found = messages.filter(isObject).find((message) => message.id === null && isObject(message.error));
  return found && { ...found, id };
}

function isAnswer(message: unknown, id: RequestId): boolean {
  if (typeof message !== "object" || message === null || !("id" in message)) return false;
  return String(message.id) === String(id) && ("result" in message || "error" in message);
}
