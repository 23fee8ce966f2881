import { z } from "@hono/zod-openapi";
import { microsOf } from "../../../core/models/list-prices.ts";
import { connectionProviders, isModelName, modelNameRule } from "../../../core/models/providers.ts";

/** The most prices of an organization. */
const mostPrices = 200;

const amount = z
  .number()
  .min(0, "must be 0 to 10000")
  .max(10_000, "must be 0 to 10000")
  .refine((value) => microsOf(value) / 1_000_000 === value, "must have at most 6 decimals");

const perMillion = (of: string, example: number) =>
  amount.openapi({ description: `For a million tokens ${of}.`, example });

const provider = z.enum(connectionProviders).openapi({ example: "openai" });
const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be three capital letters, such as USD")
  .openapi({ description: "The same for all prices.", example: "USD" });

const isModelOrBeginning = (name: string) => {
  const beginning = name.endsWith("*") ? name.slice(0, -1) : name;
  return (beginning === "" && name !== "") || isModelName(beginning.replace(/\/$/, ""));
};

const model = z
  .string()
  .refine(isModelOrBeginning, `must be ${modelNameRule}, or the beginning of one with a * behind it`)
  .openapi({
    description:
      "A model, or with a `*` at its end all whose names begin so. An exact name comes before the longest beginning.",
    example: "gpt-5-mini",
  });

const NewPrice = z
  .object({
    provider,
    model,
    inputPerMillion: perMillion("of a prompt", 0.25),
    cachedInputPerMillion: perMillion(
      "of a prompt that the provider had in its cache; absent: as others",
      0.025,
    ).nullish(),
    cacheWritePerMillion: perMillion("of a prompt that it added to its cache; absent: as others", 0.3).nullish(),
    outputPerMillion: perMillion("of a reply", 2),
    currency: currency.default("USD"),
  })
  .openapi("NewModelPrice");
export type NewPrice = z.infer<typeof NewPrice>;

export const NewPrices = z
  .object({ prices: z.array(NewPrice).max(mostPrices, `must be at most ${mostPrices}`) })
  .superRefine(({ prices }, context) => {
    const seen = new Set<string>();
    for (const [index, price] of prices.entries()) {
      const issue = (field: keyof NewPrice, message: string) =>
        context.addIssue({ code: "custom", path: ["prices", index, field], message });
      const name = `${price.provider}:${price.model}`;
      if (seen.has(name)) issue("model", "must have one price of a provider");
      seen.add(name);
      if (price.currency !== prices[0]?.currency) issue("currency", "must be the same for all prices");
    }
  })
  .openapi("NewModelPrices");
export type NewPrices = z.infer<typeof NewPrices>;

const Price = z
  .object({
    provider,
    model,
    inputPerMillion: amount.openapi({ example: 0.25 }),
    cachedInputPerMillion: amount.nullable().openapi({ description: "Null: as other input.", example: 0.025 }),
    cacheWritePerMillion: amount.nullable().openapi({ description: "Null: as other input.", example: null }),
    outputPerMillion: amount.openapi({ example: 2 }),
    currency,
  })
  .openapi("ModelPrice");
export type Price = z.infer<typeof Price>;

const ListPrice = Price.extend({
  source: z.string().openapi({
    description: "The page of the provider; empty for the built-in model.",
    example: "https://developers.openai.com/api/docs/pricing",
  }),
}).openapi("ListPrice");

export const ModelPrices = z
  .object({
    prices: z.array(Price).openapi({ description: "The organization's own." }),
    currency: currency.openapi({
      description: "Of all amounts of the organization: that of its own prices, else USD.",
    }),
    listPrices: z
      .object({
        asOf: z.iso.date().openapi({ example: "2026-10-10" }),
        prices: z.array(ListPrice),
      })
      .openapi({ description: "The defaults, for models without an own price, unless those are in another currency." }),
  })
  .openapi("ModelPrices");
export type ModelPrices = z.infer<typeof ModelPrices>;
