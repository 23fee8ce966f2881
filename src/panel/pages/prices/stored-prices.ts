import type { ModelPrice } from "../../../client/index.ts";
import { api } from "../../data/api.ts";

/** The name of a priced model, or of a beginning of models, such as `openai:gpt-5*`. */
export const nameOf = ({ provider, model }: Pick<ModelPrice, "provider" | "model">) => `${provider}:${model}`;

/**
 * Stores a price in place of the one of this name, or deletes that; a name of null replaces none. The API replaces all
 * prices at once, so they are read again first, and those that somebody else saved meanwhile stay. All prices get the
 * new one's currency. The new price is the last one of the request.
 */
export async function replacePrice(orgSlug: string, name: string | null, price: ModelPrice | null): Promise<void> {
  const { prices } = await api.getModelPrices({ orgSlug });
  const others = prices.filter((one) => nameOf(one) !== name);
  const body = price
    ? { prices: [...others, price].map((one) => ({ ...one, currency: price.currency })) }
    : { prices: others };
  await api.setModelPrices({ orgSlug, body });
}
