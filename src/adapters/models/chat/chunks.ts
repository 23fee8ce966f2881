import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type CallPiece, Calls } from "./calls.ts";
import { ThoughtsInText } from "./thoughts.ts";

/** How much of an unreadable event reaches the log, in characters. */
const excerptLength = 2_000;

type Kind = "text" | "reasoning";

interface Sink {
  enqueue(part: LanguageModelV4StreamPart): void;
}

/**
 * Reads the chunks of a chat completion into parts. An event that cannot be read, and an error in place of a chunk, is
 * an error part, after which the stream goes on.
 */
export class Chunks {
  readonly #sink: Sink;
  readonly #calls: Calls;
  /** Null once the text has begun with something else, or has no more thoughts. */
  #thoughts: ThoughtsInText | null = new ThoughtsInText((kind, text) => this.#add(kind, text));
  #open: Kind | null = null;
  #identified = false;
  #refused = false;
  #failed = false;
  #finish: string | null = null;
  #usage: JsonObject | null = null;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#calls = new Calls(sink);
  }

  /** Takes the data of one event. Throws for a tool call that can have no name. */
  take(data: string): void {
    if (data === "[DONE]") return;
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
      if (!isObject(chunk)) throw new Unreadable("a chunk is an object");
      const error = errorOf(chunk);
      if (error === null) this.#read(chunk);
      else this.#fail(error);
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof Unreadable)) throw error;
      const wrong = error instanceof Unreadable ? `of no known shape (${error.message})` : "no valid JSON";
      this.#fail(new Error(`The provider sent an event that is ${wrong}: ${data.slice(0, excerptLength)}`));
    }
  }

  /** The stream is over. Throws for a tool call that never had a name. */
  end(): void {
    this.#thoughts?.flush();
    this.#close();
    this.#calls.end();
    if (this.#finish === null && !this.#failed) {
      this.#fail(new Error("The provider's stream ended without a finish reason"));
    }
    this.#sink.enqueue({ type: "finish", finishReason: this.#reason(), usage: usageOf(this.#usage) });
  }

  #fail(error: unknown): void {
    this.#thoughts?.flush();
    this.#failed = true;
    this.#finish = null;
    this.#sink.enqueue({ type: "error", error });
  }

  /** Some servers begin with chunks that name nothing. */
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

  #read(chunk: JsonObject): void {
    this.#identify(chunk);
    if (isObject(chunk.usage)) this.#usage = chunk.usage;
    // The last chunk of some servers has counts of tokens only.
    const [choice] = listAt(chunk, "choices", isObject(chunk.usage));
    if (choice === undefined) return;
    this.#finish = stringAt(choice, "finish_reason") ?? this.#finish;
    if (choice.delta === undefined || choice.delta === null) return;
    const delta = objectAt(choice, "delta");

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
    for (const piece of pieces) this.#calls.take(pieceOf(piece));
  }

  /** A text, or Mistral's list of texts and thoughts. */
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
    if (this.#open !== kind) {
      this.#close();
      this.#open = kind;
      this.#sink.enqueue({ type: `${kind}-start`, id: kind });
    }
    this.#sink.enqueue({ type: `${kind}-delta`, id: kind, delta });
  }

  #close(): void {
    if (this.#open !== null) this.#sink.enqueue({ type: `${this.#open}-end`, id: this.#open });
    this.#open = null;
  }

  #reason(): LanguageModelV4FinishReason {
    const raw = this.#finish;
    if (raw === null) return { unified: "error", raw: undefined };
    // Who refuses has completed its reply, as OpenAI sees it.
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

/** An event whose JSON is not what it should be. */
class Unreadable extends Error {}

/** The error that came in place of a chunk: `{ error: { message } }`, or Mistral's `{ object: "error", message }`. */
function errorOf(chunk: JsonObject): unknown {
  const { error, object, choices } = chunk;
  if (error !== undefined && error !== null) return isObject(error) ? error : new Error(JSON.stringify(error));
  return object === "error" && choices === undefined ? chunk : null;
}

function listAt(from: JsonObject, name: string, optional: boolean): JsonObject[] {
  const value = from[name];
  if (optional && (value === undefined || value === null)) return [];
  if (Array.isArray(value) && value.every(isObject)) return value;
  throw new Unreadable(`${name} is a list of objects`);
}

function objectAt(from: JsonObject, name: string): JsonObject {
  const value = from[name];
  if (isObject(value)) return value;
  throw new Unreadable(`${name} is an object`);
}

function stringAt(from: JsonObject, name: string): string | null {
  const value = from[name] ?? null;
  if (value === null || typeof value === "string") return value;
  throw new Unreadable(`${name} is a string`);
}

function pieceOf(piece: JsonObject): CallPiece {
  const { index = null } = piece;
  if (index !== null && typeof index !== "number") throw new Unreadable("index is a number");
  const called = objectAt(piece, "function");
  const { google } = isObject(piece.extra_content) ? piece.extra_content : {};
  const signature = isObject(google) ? google.thought_signature : null;
  return {
    index,
    id: stringAt(piece, "id"),
    function: { name: stringAt(called, "name"), arguments: stringAt(called, "arguments") },
    thoughtSignature: typeof signature === "string" ? signature : null,
  };
}

function usageOf(usage: JsonObject | null): LanguageModelV4Usage {
  if (usage === null) {
    const unknown = { total: undefined };
    return {
      inputTokens: { ...unknown, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { ...unknown, text: undefined, reasoning: undefined },
    };
  }
  const [input, output] = [countAt(usage, "prompt_tokens"), countAt(usage, "completion_tokens")];
  const cached = countAt(usage, "num_cached_tokens") || countAt(usage.prompt_tokens_details, "cached_tokens");
  const thought = countAt(usage.completion_tokens_details, "reasoning_tokens");
  return {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: Math.max(0, output - thought), reasoning: thought },
  };
}

function countAt(from: JsonObject[string] | undefined, name: string): number {
  const count = isObject(from) ? from[name] : 0;
  return typeof count === "number" ? count : 0;
}
