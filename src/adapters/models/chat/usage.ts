import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../../core/json.ts";

/** The token counts in a chunk's `usage`; all unknown when there is none. */
export function usageOf(usage: JsonObject | null): LanguageModelV4Usage {
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
