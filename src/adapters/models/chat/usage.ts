import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { isObject, type JsonObject } from "../../../core/json.ts";

/** The count of whichever spelling a server uses: OpenAI's, vLLM's, Mistral's, DeepSeek's, or Anthropic's at a gateway. */
const firstOf = (...counts: number[]): number => counts.find((count) => count > 0) ?? 0;

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
  const cached = firstOf(
    countAt(usage.prompt_tokens_details, "cached_tokens"),
    countAt(usage, "num_cached_tokens"),
    countAt(usage.prompt_token_details, "cached_tokens"),
    countAt(usage, "prompt_cache_hit_tokens"),
    countAt(usage, "cache_read_input_tokens"),
  );
  const written = firstOf(
    countAt(usage.prompt_tokens_details, "cache_write_tokens"),
    countAt(usage, "cache_creation_input_tokens"),
  );
  const thought = countAt(usage.completion_tokens_details, "reasoning_tokens");
  return {
    inputTokens: {
      total: input,
      noCache: Math.max(0, input - cached - written),
      cacheRead: cached,
      cacheWrite: written,
    },
    outputTokens: { total: output, text: Math.max(0, output - thought), reasoning: thought },
  };
}

function countAt(from: JsonObject[string] | undefined, name: string): number {
  const count = isObject(from) ? from[name] : 0;
  return typeof count === "number" ? count : 0;
}
