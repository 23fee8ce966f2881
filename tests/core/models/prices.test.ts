import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listPrices, microsOf, pricesOf } from "../../../src/core/models/list-prices.ts";
import {
  type CountedTokens,
  costOf,
  costOfCalls,
  findPrice,
  highestPrice,
  type ModelPrice,
  type Price,
  roundMicros,
} from "../../../src/core/models/prices.ts";
import { modelCatalogue } from "../../../src/features/agents/models.ts";

const price = (model: string, input: number, fields: Partial<ModelPrice> = {}): ModelPrice => ({
  provider: "openai",
  model,
  input,
  cachedInput: null,
  cacheWrite: null,
  output: 0,
  ...fields,
});
const own = (...rows: ModelPrice[]) => rows.map((row) => ({ ...row, currency: "USD" }));

describe("the price of a model", () => {
  const rows = own(price("gpt*", 1), price("gpt-5*", 2), price("gpt-5-mini", 3), price("*", 4, { provider: "ollama" }));
  test.each([
    ["an exact name before a beginning", "openai", "gpt-5-mini", 3],
    ["the longest beginning", "openai", "gpt-5-nano", 2],
    ["a beginning that is the whole name", "openai", "gpt-5", 2],
    ["an own beginning before a listed exact name", "openai", "gpt-5.4-nano", 2],
    ["of its own provider alone", "ollama", "gpt-5-mini", 4],
    ["a listed one where the organization has none", "anthropic", "claude-haiku-4-5", 1_000_000],
    ["none of an unknown model", "openai", "o9", undefined],
    ["none of another provider's model", "openai-compatible", "gpt-5-mini", undefined],
    ["nothing for the built-in model", "demo", "demo", 0],
  ] as const)("is %s", (_, provider, model, input) => {
    expect(findPrice(pricesOf(rows), provider, model)?.input).toBe(input);
  });

  test("is no listed one in another currency", () => {
    const euros = pricesOf([{ ...price("gpt-5-mini", 7), currency: "EUR" }]);
    expect(euros.currency).toBe("EUR");
    expect(findPrice(euros, "openai", "gpt-5-mini")?.input).toBe(7);
    expect(findPrice(euros, "anthropic", "claude-haiku-4-5")).toBeNull();
  });
});

describe("the cost of tokens", () => {
  const full: Price = { input: 2_000_000, cachedInput: 100_000, cacheWrite: 2_500_000, output: 10_000_000 };
  const plain: Price = { ...full, cachedInput: null, cacheWrite: null };
  test.each<[string, CountedTokens, Price, number]>([
    ["nothing for no tokens", { promptTokens: 0, completionTokens: 0 }, full, 0],
    ["input and output", { promptTokens: 1000, completionTokens: 100 }, full, 3000],
    ["cached tokens by their own price", { promptTokens: 1000, completionTokens: 0, cachedTokens: 600 }, full, 860],
    ["cached tokens as input", { promptTokens: 1000, completionTokens: 0, cachedTokens: 600 }, plain, 2000],
    [
      "written tokens by their own price",
      { promptTokens: 1000, completionTokens: 0, cacheWriteTokens: 400 },
      full,
      2200,
    ],
    ["written tokens as input", { promptTokens: 1000, completionTokens: 0, cacheWriteTokens: 400 }, plain, 2000],
    [
      "all of them",
      { promptTokens: 1000, completionTokens: 10, cachedTokens: 500, cacheWriteTokens: 500 },
      full,
      50 + 1250 + 100,
    ],
  ])("is %s", (_, tokens, of, micros) => {
    expect(roundMicros(costOf(tokens, of))).toBe(micros);
  });

  test("is unknown once a model with tokens has no price, and known for calls without tokens", () => {
    const prices = pricesOf([]);
    const usage = { promptTokens: 1_000_000, completionTokens: 0 };
    const known = { provider: "anthropic", model: "claude-haiku-4-5", usage } as const;
    const unknown = { provider: "openai", model: "o9", usage } as const;
    expect(costOfCalls([known, known], prices)).toBe(2_000_000);
    expect(costOfCalls([known, unknown], prices)).toBeNull();
    expect(costOfCalls([{ ...unknown, usage: { promptTokens: 0, completionTokens: 0 } }], prices)).toBe(0);
    expect(costOfCalls([], prices)).toBe(0);
  });

  test("is rounded once, the half up", () => {
    const half = price("half", 500_000);
    const call = { provider: "openai", model: "half", usage: { promptTokens: 1, completionTokens: 0 } } as const;
    expect(costOfCalls([call], pricesOf(own(half)))).toBe(1);
    // Two halves are one: they are not rounded by themselves.
    expect(costOfCalls([call, call], pricesOf(own(half)))).toBe(1);
  });
});

test("estimates take the highest prices among models, of any kind of prompt token", () => {
  const rows = own(price("a", 5, { cacheWrite: 7, output: 1 }), price("b", 3, { cachedInput: 2, output: 9 }));
  const of = (...models: string[]) =>
    highestPrice(
      models.map((model) => ({ provider: "openai", model })),
      pricesOf(rows),
    );
  expect(of("a", "b")).toEqual({ input: 7, output: 9 });
  expect(of("b", "unknown")).toEqual({ input: 3, output: 9 });
  expect(of("unknown")).toEqual({ input: 0, output: 0 });
});

describe("costs as exact numbers", () => {
  const count = fc.integer({ min: 0, max: 1_000_000_000 });
  const micros = fc.integer({ min: 0, max: 10_000_000_000 });
  const orNull = (of: fc.Arbitrary<number>) => fc.option(of, { nil: null });
  const drawnPrice = fc.record({
    input: micros,
    cachedInput: orNull(micros),
    cacheWrite: orNull(micros),
    output: micros,
  });
  const drawnTokens = fc
    .record({ prompt: count, completion: count, cached: fc.double({ min: 0, max: 1, noNaN: true }) })
    .map(({ prompt, completion, cached }): CountedTokens => {
      const cachedTokens = Math.floor(prompt * cached);
      const cacheWriteTokens = Math.floor((prompt - cachedTokens) / 2);
      return { promptTokens: prompt, completionTokens: completion, cachedTokens, cacheWriteTokens };
    });

  /** The sum of fractions of a million, by whole part and rest. */
  function reference(calls: readonly (readonly [CountedTokens, Price])[]): bigint {
    let [whole, rest] = [0n, 0n];
    const add = (tokens: number, amount: number) => {
      const product = BigInt(tokens) * BigInt(amount);
      whole += product / 1_000_000n;
      rest += product % 1_000_000n;
    };
    for (const [{ promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 }, of] of calls) {
      add(promptTokens - cachedTokens - cacheWriteTokens, of.input);
      add(cachedTokens, of.cachedInput ?? of.input);
      add(cacheWriteTokens, of.cacheWrite ?? of.input);
      add(completionTokens, of.output);
    }
    const more = rest / 1_000_000n;
    return whole + more + (rest % 1_000_000n >= 500_000n ? 1n : 0n);
  }

  test("equal a reference, whatever the order of the calls", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(drawnTokens, drawnPrice), { maxLength: 6 }), (calls) => {
        const rows = calls.map(([, of], index) => ({ ...price(`m${index}`, 0), ...of }));
        const priced = calls.map(([usage], index) => ({ provider: "openai", model: `m${index}`, usage }) as const);
        const prices = pricesOf(own(...rows));
        const cost = costOfCalls(priced, prices);
        expect(BigInt(cost ?? -1)).toBe(reference(calls));
        expect(costOfCalls(priced.toReversed(), prices)).toBe(cost);
      }),
    );
  });

  test("take a price of six decimals as it was written", () => {
    fc.assert(fc.property(micros, (amount) => microsOf(Number(`${amount}e-6`)) === amount));
  });
});

describe("the list prices", () => {
  /** Models of the catalogue whose price was not found on a page of the provider. */
  const unpriced = [
    "openai:gpt-6.1-terra",
    "openai:gpt-5.4-mini",
    "google:gemini-4-argon",
    "mistral:mistral-small-latest",
    "mistral:mistral-medium-latest",
    "mistral:mistral-large-latest",
    "mistral:magistral-medium-latest",
  ];

  test("cover the catalogue, except for models without a known price", () => {
    const { providers } = modelCatalogue(new Map());
    const missing = Object.entries(providers).flatMap(([provider, { models }]) =>
      models
        .filter(({ id }) => !findPrice(pricesOf([]), provider as ModelPrice["provider"], id))
        .map(({ id }) => `${provider}:${id}`),
    );
    expect(missing).toEqual(unpriced);
  });

  test("have a date, an address each, and no model twice", () => {
    expect(new Date(listPrices.asOf).toISOString().slice(0, 10)).toBe(listPrices.asOf);
    const sold = listPrices.prices.filter(({ provider }) => provider !== "demo");
    for (const { source, input, output } of sold) {
      expect(source).toMatch(/^https:\/\//);
      expect(Math.min(input, output)).toBeGreaterThan(0);
    }
    const names = listPrices.prices.map(({ provider, model }) => `${provider}:${model}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
