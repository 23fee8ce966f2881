import { type HighestPrice, highestPrice, type PricedTokens, type Prices } from "../../../core/models/prices.ts";
import type { Consumption } from "../../../turn/types.ts";
import type { AnsweringModel, ModelOwner } from "../agent/model.ts";

/** Whether the agent has a budget, of tokens or of money. */
export const hasBudget = ({ row }: Pick<ModelOwner, "row">) =>
  row.monthlyTokenBudget !== null || row.monthlyCostBudget !== null;

/** What a turn's calls cost, for estimates. */
export interface Pricing {
  /** Null: costs are not computed. */
  prices: Prices | null;
  /** The highest prices of the models that may answer. */
  price: HighestPrice;
}

/** The pricing of an agent's calls of these models. */
export function pricingOf(
  { prices }: Pick<ModelOwner, "prices">,
  models: readonly Pick<AnsweringModel, "spec">[],
): Pricing {
  const named = models.map(({ spec }) => spec);
  return { prices, price: prices ? highestPrice(named, prices) : free };
}

const free: HighestPrice = { input: 0, output: 0 };

/** The cost of a call with these tokens, at most. */
export const cautiousCost = (prompt: number, answer: number, { input, output }: HighestPrice): number =>
  Number((BigInt(prompt) * BigInt(input) + BigInt(answer) * BigInt(output) + 999_999n) / 1_000_000n);

/** The calls of a turn, as their price is found. */
export const pricedCalls = ({ answered }: Pick<Consumption, "answered">): PricedTokens[] =>
  answered.map(({ model, usage }) => ({ ...model, usage }));
