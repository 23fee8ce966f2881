import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { usageOf } from "../../src/adapters/models/chat/usage.ts";
import { addUsage, readUsage } from "../../src/turn/usage.ts";

const reported = (total: number, cacheRead?: number, cacheWrite?: number): LanguageModelV4Usage => ({
  inputTokens: { total, noCache: undefined, cacheRead, cacheWrite },
  outputTokens: { total: 5, text: undefined, reasoning: undefined },
});

test.each([
  ["no cache", reported(100), {}],
  ["a cache that had nothing", reported(100, 0, 0), {}],
  ["both", reported(100, 60, 30), { cachedTokens: 60, cacheWriteTokens: 30 }],
  ["more than the prompt", reported(100, 900, 30), { cachedTokens: 100 }],
  ["more written than is left", reported(100, 60, 900), { cachedTokens: 60, cacheWriteTokens: 40 }],
  ["counts below zero", reported(100, -1, -1), {}],
  ["counts that are no numbers", reported(100, Number.NaN, Number.NaN), {}],
])("the cached tokens are part of the prompt's: %s", (_name, usage, cache) => {
  expect(readUsage(usage)).toEqual({ promptTokens: 100, completionTokens: 5, ...cache });
});

test("the counts of calls add up", () => {
  const [first, second] = [readUsage(reported(100, 60, 30)), readUsage(reported(50, 40))];
  const sum = { promptTokens: 150, completionTokens: 10, cachedTokens: 100, cacheWriteTokens: 30 };
  expect(addUsage(first, second)).toEqual(sum);
  const huge = { promptTokens: 1e9, completionTokens: 1e9, cachedTokens: 1e9 };
  expect(addUsage(huge, huge)).toEqual(huge);
});

test.each([
  ["OpenAI", { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } }, [60, 30]],
  ["vLLM", { num_cached_tokens: 60 }, [60, 0]],
  ["Mistral", { prompt_token_details: { cached_tokens: 60 } }, [60, 0]],
  ["DeepSeek", { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }, [60, 0]],
  ["a gateway to Anthropic", { cache_read_input_tokens: 60, cache_creation_input_tokens: 30 }, [60, 30]],
  ["a server that reports null", { prompt_tokens_details: null }, [0, 0]],
])("chat completions name the cached tokens as %s does", (_name, details, [cacheRead, cacheWrite]) => {
  const { inputTokens } = usageOf({ prompt_tokens: 100, completion_tokens: 5, ...details });
  expect(inputTokens).toMatchObject({ total: 100, cacheRead, cacheWrite });
});
