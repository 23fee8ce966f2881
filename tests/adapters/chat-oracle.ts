import { createMistral } from "@ai-sdk/mistral";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createModels } from "../../src/adapters/models/index.ts";
import type { ModelCall, StreamingModel } from "../../src/core/ports.ts";
import { partsOf } from "./read-step.ts";
import { specs } from "./recorded.ts";

export type Wire = "openai-compatible" | "mistral";

type Fetch = typeof globalThis.fetch;

const key = "sk-test";

/** The engine's own reader of chat completions. */
export function ours(wire: Wire, fetch: Fetch, model = "m"): Promise<StreamingModel> {
  return createModels({ fetch }).resolve({ ...specs[wire], model, apiKey: key });
}

/** The provider's package, which defines the correct result. */
export function oracle(wire: Wire, fetch: Fetch, model = "m"): StreamingModel {
  if (wire === "mistral") return createMistral({ apiKey: key, baseURL: "https://api.mistral.ai/v1", fetch })(model);
  const baseURL = specs["openai-compatible"].baseUrl;
  return createOpenAICompatible({ name: "openaiCompatible", baseURL, apiKey: key, includeUsage: true, fetch })(model);
}

const hello: ModelCall = { prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };

/** A `fetch` that answers with these pieces of a stream. */
export function answering(pieces: readonly Uint8Array[]): Fetch {
  return async () => {
    const left = pieces.values();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = left.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  };
}

/** All output of a model, in a form that is the same for both readers. */
export async function said(model: StreamingModel): Promise<unknown[]> {
  const names = new Map<string, string>();
  const parts: unknown[] = [];
  try {
    const { stream } = await model.doStream(hello);
    for await (const part of partsOf(stream)) add(parts, comparable(part, names));
  } catch {
    parts.push("thrown");
  }
  return parts;
}

/** How a text is divided into deltas doesn't matter, and neither does an empty delta. */
function add(parts: unknown[], part: unknown): void {
  const [last, next] = [parts.at(-1), part] as Partial<Record<"type" | "delta", string>>[];
  if (next?.delta === "") return;
  const goesOn = last?.type === next?.type && /^(?:text|reasoning)-delta$/.test(next?.type ?? "");
  if (goesOn && last) last.delta = `${last.delta}${next?.delta}`;
  else parts.push(part);
}

function comparable(part: LanguageModelV4StreamPart, names: Map<string, string>): unknown {
  // Ids that no provider gave are made at random.
  const named = (id: string) => {
    if (!/^[0-9A-Za-z]{16}$/.test(id)) return id;
    const name = names.get(id) ?? `random ${names.size}`;
    names.set(id, name);
    return name;
  };
  switch (part.type) {
    case "stream-start":
      return { type: part.type };
    case "text-start":
    case "text-delta":
    case "text-end":
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      // Only one block is open at a time, so its id doesn't matter.
      return { ...part, id: "" };
    case "tool-input-start":
    case "tool-input-delta":
    case "tool-input-end":
      return { ...part, id: named(part.id) };
    case "tool-call":
      return { ...part, toolCallId: named(part.toolCallId) };
    case "error":
      return { type: "error", error: part.error instanceof Error ? "unreadable" : part.error };
    case "finish":
      // All that the engine reads of the usage.
      return {
        type: "finish",
        finishReason: part.finishReason,
        input: part.usage.inputTokens.total,
        output: part.usage.outputTokens.total,
      };
    default:
      return JSON.parse(JSON.stringify(part));
  }
}
