import type { ModelPrice, Prices } from "./prices.ts";
import type { ConnectionProvider } from "./providers.ts";

interface ListPrice extends ModelPrice {
  /** The provider's page that has the price. */
  source: string;
}

/** For a million tokens, in the currency's unit: input, cached input, cache write and output. */
type Amounts = readonly [input: number, cachedInput: number | null, cacheWrite: number | null, output: number];

const usd = (provider: ConnectionProvider, source: string, amounts: Readonly<Record<string, Amounts>>): ListPrice[] =>
  Object.entries(amounts).map(([model, [input, cachedInput, cacheWrite, output]]) => {
    const prices = { input: microsOf(input), output: microsOf(output) };
    const ofCache = { cachedInput: orNull(cachedInput), cacheWrite: orNull(cacheWrite) };
    return { provider, model, ...prices, ...ofCache, source };
  });

/** An amount of the currency's unit in micros; exact for amounts of at most six decimals. */
export const microsOf = (amount: number): number => Math.round(amount * 1_000_000);

const orNull = (amount: number | null) => (amount === null ? null : microsOf(amount));

/**
 * Prices of the providers' own lists, a default for organizations that set none: those of usual requests. Some providers
 * charge more for long prompts, fast answers or processing in one region.
 */
export const listPrices = {
  asOf: "2026-10-10",
  currency: "USD",
  prices: [
    ...usd("openai", "https://developers.openai.com/api/docs/pricing", {
      // For prompts of at most 272,000 tokens.
      "gpt-6-astra": [10, 1, 12.5, 50],
      "gpt-6.1-sol": [2, 0.1, 2.5, 10],
      "gpt-6-luna": [0.1, 0.01, 0.125, 0.5],
      "gpt-5.4-nano": [0.2, 0.02, null, 1.25],
      "gpt-5-mini": [0.25, 0.025, null, 2],
      "gpt-5-nano": [0.05, 0.005, null, 0.4],
    }),
    ...usd("anthropic", "https://platform.claude.com/docs/en/about-claude/pricing", {
      "claude-opus-5-5": [4, 0.2, 5, 20],
      "claude-sonnet-5-5": [2, 0.1, 2.5, 10],
      // For prompts of at most 100,000 tokens.
      "claude-haiku-5-5": [0.1, 0.01, 0.125, 0.5],
      "claude-sonnet-4-6": [3, 0.3, 3.75, 15],
      "claude-haiku-4-5": [1, 0.1, 1.25, 5],
    }),
    ...usd("google", "https://ai.google.dev/gemini-api/docs/pricing", {
      // Until 2026-12-31; then 1.50, 0.15 and 7.50.
      "gemini-3.8-flash": [0.75, 0.075, null, 3.75],
      "gemini-3.5-flash-lite": [0.3, 0.03, null, 2.5],
      // For prompts of at most 200,000 tokens, as gemini-2.5-pro.
      "gemini-3.1-pro-preview": [2, 0.2, null, 12],
      "gemini-2.5-pro": [1.25, 0.125, null, 10],
      "gemini-2.5-flash": [0.3, 0.03, null, 2.5],
      "gemini-2.5-flash-lite": [0.1, 0.01, null, 0.4],
    }),
    { provider: "demo", model: "*", input: 0, cachedInput: null, cacheWrite: null, output: 0, source: "" },
  ] satisfies ListPrice[],
} as const;

/** An organization's own prices, and the list prices where they are of the same currency. */
export function pricesOf(own: readonly (ModelPrice & { currency: string })[]): Prices {
  const currency = own[0]?.currency ?? listPrices.currency;
  return { currency, tables: currency === listPrices.currency ? [own, listPrices.prices] : [own] };
}
