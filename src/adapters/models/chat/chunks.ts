import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { thought } from "../../../core/ports.ts";
import { type CallPiece, Calls } from "./calls.ts";
import { type Habit, ThoughtsInText } from "./thoughts.ts";
import { usageOf } from "./usage.ts";

/** An event of a stream, with its name. */
export interface StreamEvent {
  event?: string | undefined;
  data: string;
}

/** How many characters of an unreadable event are logged. */
const excerptLength = 2_000;

type Kind = "text" | "reasoning";

interface Sink {
  enqueue(part: LanguageModelV4StreamPart): void;
}

/**
 * Reads the chunks of a chat completion into parts, as the providers' own clients do. An event that is no JSON, or an
 * error instead of a chunk, becomes an error part; the stream goes on. Events that are neither are skipped.
 */
export class Chunks {
  readonly #sink: Sink;
  readonly #calls: Calls;
  /** Null once the text began without thoughts, or after its thoughts. */
  #thoughts: ThoughtsInText | null;
  #open: Kind | null = null;
  #begun = false;
  #identified = false;
  #refused = false;
  #failed = false;
  #finish: string | null = null;
  #usage: JsonObject | null = null;
  /** The first event that was no chunk. */
  #foreign = "";
  /** Whether `[DONE]` arrived. */
  done = false;
  /** Whether the body has ended, so that an unreadable event was cut off. */
  cut = false;

  constructor(sink: Sink, habit: Habit) {
    this.#sink = sink;
    const say = (kind: Kind, text: string) => this.#add(kind, text);
    this.#thoughts = new ThoughtsInText({ say, retract: () => this.#retract() }, habit);
    this.#calls = new Calls(sink);
  }

  /** Reads an event of the stream. Throws for a tool call that can't get a name any more. */
  event({ event, data }: StreamEvent): void {
    if (this.#line(event, data)) return;
    // Some servers separate their events by a single newline.
    const lines = data.includes("\n") ? data.split("\n") : [];
    const isRead = lines.length > 0 && lines.every((line) => this.#line(event, line));
    if (isRead || this.cut) return;
    // An event with a name and other data is a ping or a note.
    if (event && event !== "error" && !/^\s*[{[]/.test(data)) this.#foreign ||= data.slice(0, excerptLength);
    else this.#unreadable("no valid JSON", data);
  }

  /** Reads an event's data; returns false when it is no JSON. */
  #line(event: string | undefined, data: string): boolean {
    if (this.done) return true;
    if (data.startsWith("[DONE]")) {
      this.done = true;
      if (!this.#failed) this.#finish ??= "stop";
      return true;
    }
    const parsed = parse(data);
    if (parsed === undefined) return data.trim() === "";
    const isError = event === "error" && !(isObject(parsed) && parsed.error);
    this.#take(isError ? { error: parsed } : parsed, data);
    return true;
  }

  /** Reads a completion that arrived instead of a stream. */
  completion(completion: JsonObject): void {
    this.#take(completion, "");
    if (!this.#failed) this.#finish ??= "stop";
  }

  /** Ends the stream. Throws for a tool call without a name. */
  end(): void {
    this.#thoughts?.flush();
    this.#close();
    this.#calls.end();
    if (this.#finish === null && !this.#failed) {
      const foreign = this.#foreign && `; it sent ${this.#foreign}`;
      this.#fail(new Error(`The provider's stream ended without a finish reason${foreign}`));
    }
    this.#sink.enqueue({ type: "finish", finishReason: this.#reason(), usage: usageOf(this.#usage) });
  }

  #take(chunk: unknown, data: string): void {
    try {
      const error = isObject(chunk) ? errorOf(chunk) : null;
      if (error !== null) this.#fail(error);
      else if (isObject(chunk)) this.#read(chunk, data);
      else this.#foreign ||= data.slice(0, excerptLength);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#unreadable(`of no known shape (${error.message})`, data);
    }
  }

  #unreadable(wrong: string, data: string): void {
    this.#fail(new Error(`The provider sent an event that is ${wrong}: ${data.slice(0, excerptLength)}`));
  }

  #fail(error: unknown): void {
    this.#thoughts?.flush();
    this.#failed = true;
    this.#finish = null;
    this.#sink.enqueue({ type: "error", error });
  }

  /** Reports the response's id and model; some servers send them only in later chunks. */
  #identify({ id, model, created }: JsonObject): void {
    if (this.#identified || !(id || model || created)) return;
    this.#identified = true;
    this.#sink.enqueue({
      type: "response-metadata",
      ...(typeof id === "string" ? { id } : {}),
      ...(typeof model === "string" ? { modelId: model } : {}),
      ...(typeof created === "number" && created !== 0 ? { timestamp: new Date(created * 1000) } : {}),
    });
  }

  #read(chunk: JsonObject, data: string): void {
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    if (chunk.choices === undefined || chunk.choices === null) {
      if (!isObject(chunk.usage)) this.#foreign ||= data.slice(0, excerptLength);
      return;
    }
    this.#identify(chunk);
    const [choice] = listAt(chunk, "choices", false);
    if (choice === undefined) return;
    this.#finish = stringAt(choice, "finish_reason") || this.#finish;
    const delta = choice.delta ?? (this.#begun ? null : wholeMessage(choice.message));
    if (delta === null) return;
    if (!isObject(delta)) throw new Unreadable("delta is an object");

    this.#say("reasoning", stringAt(delta, "reasoning_content") ?? stringAt(delta, "reasoning"));
    if (Array.isArray(delta.reasoning_details)) {
      for (const detail of delta.reasoning_details) if (isObject(detail)) this.#calls.detail(detail);
    }
    this.#content(delta.content);
    if (typeof delta.refusal === "string" && delta.refusal !== "") {
      this.#refused = true;
      this.#say("text", delta.refusal);
    }
    const pieces = listAt(delta, "tool_calls", true);
    if (pieces.length > 0) this.#thoughts?.flush();
    if (pieces.length > 0 && this.#open === "reasoning") this.#close();
    for (const piece of pieces) {
      this.#begun = true;
      this.#calls.take(pieceOf(piece));
    }
  }

  /** Reads a text, or Mistral's list of texts and thoughts. */
  #content(content: JsonObject[string] | undefined): void {
    if (typeof content === "string") {
      this.#text(content);
      return;
    }
    for (const part of listAt({ content: content ?? [] }, "content", false)) {
      if (part.type === "text") this.#text(stringAt(part, "text") ?? "");
      if (part.type !== "thinking") continue;
      const thoughts = listAt(part, "thinking", true).map((thought) => (thought.type === "text" ? thought.text : ""));
      this.#say("reasoning", thoughts.filter((thought) => typeof thought === "string").join(""));
    }
  }

  #text(delta: string): void {
    if (this.#thoughts === null) this.#add("text", delta);
    else if (!this.#thoughts.take(delta)) this.#thoughts = null;
  }

  #say(kind: Kind, delta: string | null): void {
    if (delta === null || delta === "") return;
    this.#thoughts?.flush();
    this.#add(kind, delta);
  }

  #add(kind: Kind, delta: string): void {
    if (delta === "") return;
    this.#begun = true;
    if (this.#open !== kind) {
      this.#close();
      this.#open = kind;
      this.#sink.enqueue({ type: `${kind}-start`, id: kind });
    }
    this.#sink.enqueue({ type: `${kind}-delta`, id: kind, delta });
  }

  #retract(): void {
    if (this.#open !== "text") return;
    this.#sink.enqueue({ type: "text-end", id: "text", providerMetadata: thought });
    this.#open = null;
  }

  #close(): void {
    if (this.#open !== null) this.#sink.enqueue({ type: `${this.#open}-end`, id: this.#open });
    this.#open = null;
  }

  #reason(): LanguageModelV4FinishReason {
    const raw = this.#finish;
    if (raw === null) return { unified: "error", raw: undefined };
    // OpenAI ends a refused reply with the reason `stop`.
    if (raw === "stop" && this.#refused) return { unified: "content-filter", raw };
    return { unified: reasons[raw] ?? "other", raw };
  }
}

const reasons: Readonly<Record<string, LanguageModelV4FinishReason["unified"]>> = {
  stop: "stop",
  length: "length",
  model_length: "length",
  content_filter: "content-filter",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  error: "error",
};

/** An event whose JSON has an unexpected form. */
class Unreadable extends Error {}

/** The error that came instead of a chunk: `{ error: { message } }`, or Mistral's `{ object: "error", message }`. */
function errorOf(chunk: JsonObject): unknown {
  const { error, object, choices } = chunk;
  if (error) return isObject(error) ? error : new Error(JSON.stringify(error));
  return object === "error" && choices === undefined ? chunk : null;
}

function listAt(from: JsonObject, name: string, optional: boolean): JsonObject[] {
  const value = from[name];
  if (optional && (value === undefined || value === null)) return [];
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw new Unreadable(`${name} is a list of objects`);
}

function stringAt(from: JsonObject, name: string): string | null {
  const value = from[name] ?? null;
  if (value === null || typeof value === "string") return value;
  throw new Unreadable(`${name} is a string`);
}

function pieceOf(piece: JsonObject): CallPiece {
  // Some servers write the index as a text, and the id as a number.
  const { index: nth = null, id } = piece;
  const index = typeof nth === "string" && /^\d{1,9}$/.test(nth) ? Number(nth) : nth;
  if (index !== null && typeof index !== "number") throw new Unreadable("index is a number");
  const called = piece.function ?? {};
  if (!isObject(called)) throw new Unreadable("function is an object");
  const { google } = isObject(piece.extra_content) ? piece.extra_content : {};
  const signature = isObject(google) ? google.thought_signature : null;
  return {
    index,
    id: typeof id === "number" ? String(id) : stringAt(piece, "id"),
    function: { name: stringAt(called, "name"), arguments: argumentsAt(called) },
    thoughtSignature: typeof signature === "string" ? signature : null,
  };
}

/** The arguments of a call. They are usually JSON text, but some servers send the value itself. */
function argumentsAt(called: JsonObject): string | null {
  const { arguments: args = null } = called;
  return typeof args === "object" && args !== null ? JSON.stringify(args) : stringAt(called, "arguments");
}

/** A whole message that came instead of pieces: its calls are complete and have no index. */
function wholeMessage(message: JsonObject[string] | undefined): JsonObject | null {
  if (message === undefined || message === null) return null;
  if (!isObject(message)) throw new Unreadable("message is an object");
  const calls = listAt(message, "tool_calls", true);
  return { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
