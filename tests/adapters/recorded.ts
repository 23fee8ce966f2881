import { readFile } from "node:fs/promises";
import type { ModelSpec } from "../../src/core/ports.ts";

export interface Request {
  url: string;
  headers: Headers;
  body: Record<string, unknown>;
}

/**
 * A fetch that answers its calls with recorded streams, one after the other, in pieces of a few bytes, so that events and
 * letters are cut in two.
 */
export async function recorded(...files: string[]): Promise<{ fetch: typeof fetch; requests: Request[] }> {
  const streams = await Promise.all(
    files.map((file) => readFile(new URL(`../fixtures/providers/${file}`, import.meta.url))),
  );
  const requests: Request[] = [];
  return {
    requests,
    fetch: async (input, init) => {
      const bytes = streams[requests.length];
      requests.push({
        url: String(input),
        headers: new Headers(init?.headers),
        body: JSON.parse(String(init?.body)) as Record<string, unknown>,
      });
      if (!bytes) throw new Error("Nothing is recorded for this call");
      return new Response(inPieces(bytes), { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
    },
  };
}

function inPieces(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + 5)));
      at += 5;
    },
  });
}

/** A spec of each provider for an agent that has only a key. */
export const specs = {
  openai: { provider: "openai", model: "gpt-6.1-terra", baseUrl: undefined, apiKey: "sk-test" },
  anthropic: { provider: "anthropic", model: "claude-sonnet-5-5", baseUrl: undefined, apiKey: "sk-test" },
  google: { provider: "google", model: "gemini-3.8-flash", baseUrl: undefined, apiKey: "sk-test" },
  mistral: { provider: "mistral", model: "mistral-medium-latest", baseUrl: undefined, apiKey: "sk-test" },
  ollama: { provider: "ollama", model: "qwen3:8b", baseUrl: "http://localhost:11434", apiKey: undefined },
  "openai-compatible": {
    provider: "openai-compatible",
    model: "m",
    baseUrl: "http://models.example/v1",
    apiKey: undefined,
  },
} as const satisfies Record<string, ModelSpec>;

export type RemoteProvider = keyof typeof specs;
