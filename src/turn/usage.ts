import type { LanguageModelV4Usage } from "@ai-sdk/provider";

/** The tokens of model calls, as the provider counted them. */
export interface Usage {
  promptTokens: number;
  completionTokens: number;
  /** Those of the prompt that the provider had in its cache; absent for none. */
  cachedTokens?: number;
  /** Those of the prompt that it added to its cache; absent for none. */
  cacheWriteTokens?: number;
}

export const noUsage: Usage = { promptTokens: 0, completionTokens: 0 };

/** The counts of one model call. The parts of the prompt are never more than the prompt, whatever a provider reports. */
export function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const promptTokens = tokenCount(inputTokens.total);
  const cached = Math.min(tokenCount(inputTokens.cacheRead), promptTokens);
  const written = Math.min(tokenCount(inputTokens.cacheWrite), promptTokens - cached);
  return withCache({ promptTokens, completionTokens: tokenCount(outputTokens.total) }, cached, written);
}

export function addUsage(one: Usage, other: Usage): Usage {
  const sum = {
    promptTokens: tokenCount(one.promptTokens + other.promptTokens),
    completionTokens: tokenCount(one.completionTokens + other.completionTokens),
  };
  const cached = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0);
  return withCache(sum, tokenCount(cached), tokenCount((one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0)));
}

const withCache = (usage: Usage, cachedTokens: number, cacheWriteTokens: number): Usage => ({
  ...usage,
  ...(cachedTokens > 0 ? { cachedTokens } : {}),
  ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
});

/** A token count limited to what the database can store, whatever a provider reports. */
export function tokenCount(count: number | undefined): number {
  return count !== undefined && count > 0 ? Math.min(Math.round(count), 1_000_000_000) : 0;
}
