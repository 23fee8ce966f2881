import { type Check, warn } from "../../core/check.ts";
import type { ProvidersReport } from "../providers/index.ts";
import { named } from "./named.ts";

const reasons = { "not-admitted": "not admitted", disabled: "disabled", "no-key": "without its key" } as const;

/** Warns of agents whose configured model may not answer. */
export function checkConnections({ unusable }: Pick<ProvidersReport, "unusable">): Check[] {
  if (unusable.length === 0) return [];
  const told = named(unusable.map(({ slug, reason }) => `${slug} (${reasons[reason]})`));
  const advice = "GET /api/instances/{slug}/provider-roles shows why, and what can be bound instead";
  return [
    warn("provider connections", `The model of these agents may not answer, so that calls are 503: ${told}. ${advice}`),
  ];
}

/** Warns of budgets in money that count nothing. */
export function checkPrices({ unpriced }: Pick<ProvidersReport, "unpriced">): Check[] {
  if (unpriced.length === 0) return [];
  const told = named(unpriced.map(({ slug, models }) => `${slug} (${models.join(", ")})`));
  const advice = "set one with PUT /api/organizations/{orgSlug}/model-prices";
  return [warn("budgets", `Budgets in money count nothing for models without a price, in ${told}: ${advice}`)];
}
