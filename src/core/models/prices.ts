import type { ConnectionProvider } from "./providers.ts";

// Costs are exact integers. A price is a whole number of millionths of the currency unit ("micros") for a million
// tokens, so tokens times price is a whole number of millionths of a micro; only the cost of a whole turn is rounded.

/** Micros for a million tokens. */
export interface Price {
  input: number;
  /** Of prompt tokens that the provider had in its cache; null: as `input`. */
  cachedInput: number | null;
  /** Of prompt tokens that it added to its cache; null: as `input`. */
  cacheWrite: number | null;
  output: number;
}

export interface ModelPrice extends Price {
  provider: ConnectionProvider;
  /** The name of a model, or its beginning with a `*` behind it. */
  model: string;
}

/** The prices of an organization. */
export interface Prices {
  currency: string;
  /** Tables of prices: a table is only asked for a model that the tables before it don't have. */
  tables: readonly (readonly ModelPrice[])[];
}

/** The tokens of model calls, as the provider counted them. */
export interface CountedTokens {
  promptTokens: number;
  completionTokens: number;
  /** Of `promptTokens`; absent for none. */
  cachedTokens?: number;
  /** Of `promptTokens`, and not among `cachedTokens`; absent for none. */
  cacheWriteTokens?: number;
}

/** The price of a model; null for an unknown one. In a table an exact name comes before the longest beginning. */
export function findPrice({ tables }: Prices, provider: string, model: string): Price | null {
  for (const table of tables) {
    const found = findIn(table, provider, model);
    if (found) return found;
  }
  return null;
}

function findIn(table: readonly ModelPrice[], provider: string, model: string): ModelPrice | null {
  let best: ModelPrice | null = null;
  for (const price of table) {
    if (price.provider !== provider) continue;
    if (price.model === model) return price;
    const isBeginning = price.model.endsWith("*") && model.startsWith(price.model.slice(0, -1));
    if (isBeginning && price.model.length > (best?.model.length ?? 0)) best = price;
  }
  return best;
}

/** The exact cost of tokens, in millionths of a micro. */
export function costOf(tokens: CountedTokens, { input, output, cachedInput, cacheWrite }: Price): bigint {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = tokens;
  const times = (count: number, price: number) => BigInt(count) * BigInt(price);
  return (
    times(promptTokens - cachedTokens - cacheWriteTokens, input) +
    times(cachedTokens, cachedInput ?? input) +
    times(cacheWriteTokens, cacheWrite ?? input) +
    times(completionTokens, output)
  );
}

/** The tokens that a model counted in one or more model calls. */
export interface PricedTokens {
  provider: string;
  model: string;
  usage: CountedTokens;
}

/** The exact cost of the calls whose price is known, in millionths of a micro, and whether it is that of all calls. */
export function sumCosts(calls: readonly PricedTokens[], prices: Prices): { cost: bigint; isWhole: boolean } {
  let [cost, isWhole] = [0n, true];
  for (const { provider, model, usage } of calls) {
    if (usage.promptTokens + usage.completionTokens === 0) continue;
    const price = findPrice(prices, provider, model);
    if (price) cost += costOf(usage, price);
    else isWhole = false;
  }
  return { cost, isWhole };
}

/**
 * The cost of model calls in micros, rounded once; 0 without tokens, and null when a model that counted tokens has no
 * known price.
 */
export function costOfCalls(calls: readonly PricedTokens[], prices: Prices): number | null {
  const { cost, isWhole } = sumCosts(calls, prices);
  return isWhole ? roundMicros(cost) : null;
}

/** Millionths of a micro as micros, the half rounded up. */
export const roundMicros = (cost: bigint): number => Number((cost + 500_000n) / 1_000_000n);

/** Prices of any prompt token and any token of a reply, for estimates. */
export type HighestPrice = Pick<Price, "input" | "output">;

/** The highest prices among models; 0 for those without a known one. */
export function highestPrice(models: readonly { provider: string; model: string }[], prices: Prices): HighestPrice {
  const found = models.flatMap(({ provider, model }) => findPrice(prices, provider, model) ?? []);
  return {
    input: Math.max(
      0,
      ...found.flatMap(({ input, cachedInput, cacheWrite }) => [input, cachedInput ?? 0, cacheWrite ?? 0]),
    ),
    output: Math.max(0, ...found.map(({ output }) => output)),
  };
}
