import { api } from "./api.ts";
import { hasFeature, may, orgSlug } from "./session.ts";

/** The currency of the organization's costs; null where the person can't know it. */
export async function readCurrency(): Promise<string | null> {
  if (!hasFeature("providers") || !may("org:read")) return null;
  return (await api.getModelPrices({ orgSlug: orgSlug.value })).currency;
}
