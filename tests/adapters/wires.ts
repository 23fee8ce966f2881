import { readFile } from "node:fs/promises";
import { createModels } from "../../src/adapters/models/index.ts";
import { pooledPost } from "../../src/adapters/node/post/post.ts";
import { type RemoteProvider, specs } from "./recorded.ts";

/** A provider's own formats for errors. */
interface Wire {
  /** The body of an HTTP error. */
  refusal(status: number, message: string): object;
  /** The event of a stream that breaks off, since the provider has too much to do. */
  overloaded: string;
  /** Whether the package treats such an event as temporary. */
  passing: boolean;
}

export const wires: Record<RemoteProvider, Wire> = {
  openai: {
    refusal: (status, message) => ({ error: { message, type: status === 429 ? "requests" : "error", code: null } }),
    overloaded: named("error", {
      type: "error",
      sequence_number: 9,
      error: { type: "server_error", code: "server_error", message: "overloaded now", param: null },
    }),
    passing: true,
  },
  anthropic: {
    refusal: (status, message) => ({
      type: "error",
      error: { type: status === 529 ? "overloaded_error" : "api_error", message },
      request_id: "req_1",
    }),
    overloaded: named("error", {
      type: "error",
      error: { details: null, type: "overloaded_error", message: "overloaded now" },
    }),
    passing: true,
  },
  google: {
    refusal: (code, message) => ({ error: { code, message, status: "UNAVAILABLE", details: [] } }),
    overloaded: data({ error: { code: 503, message: "overloaded now", status: "UNAVAILABLE" } }),
    passing: true,
  },
  mistral: {
    refusal: (_status, message) => ({ object: "error", message, type: "service_error", param: null, code: "3000" }),
    overloaded: data({ object: "error", message: "overloaded now", type: "unreachable_backend", code: "1100" }),
    passing: false,
  },
  ollama: {
    refusal: (_status, message) => ({ error: { message, type: "api_error", param: null, code: null } }),
    overloaded: data({ error: { message: "overloaded now", type: "api_error", param: null, code: null } }),
    passing: true,
  },
  "openai-compatible": {
    refusal: (_status, message) => ({ error: { message, type: "error", code: null } }),
    overloaded: data({ error: { message: "overloaded now", type: "server_error", code: 503 } }),
    passing: true,
  },
};

function named(event: string, value: object): string {
  return `event: ${event}\n${data(value)}`;
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The recorded answer of a provider, cut before its first words, after them, and in the middle of what follows. */
export async function cutAnswer(name: RemoteProvider): Promise<{ begun: string; half: string; broken: string }> {
  const text = await readFile(new URL(`../fixtures/providers/${name}/answer.sse`, import.meta.url), "utf8");
  const blank = text.includes("\r\n") ? "\r\n\r\n" : "\n\n";
  const events = text.split(blank).map((event) => event + blank);
  const first = events.findIndex((event) => event.includes("In Zürich it is"));
  return {
    begun: events.slice(0, first).join(""),
    half: events.slice(0, first + 1).join(""),
    broken: `${events.slice(0, first + 1).join("")}${events[first]?.slice(0, -12)}\n\n`,
  };
}

/** A model of this provider that sends its requests to `url` (which ends with `/v1`). */
export function modelAt(name: RemoteProvider, url: string) {
  const spec = specs[name];
  // OpenAI's responses API is only used at OpenAI's own address.
  if (name !== "openai") return createModels({ post: pooledPost() }).resolve({ ...spec, baseUrl: url });
  const models = createModels({
    fetch: (input, init) => fetch(String(input).replace("https://api.openai.com/v1", url), init),
  });
  return models.resolve(spec);
}
