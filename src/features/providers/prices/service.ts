import { asc, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { sameJson } from "../../../core/json.ts";
import { listPrices, microsOf, pricesOf } from "../../../core/models/list-prices.ts";
import type { ModelPrice } from "../../../core/models/prices.ts";
import type { Db } from "../../../db/client.ts";
import { modelPrices, organizations } from "../../../db/schema.ts";
import { touchAgentsOf } from "../../agents/index.ts";
import { writeOrganization } from "../../organizations/index.ts";
import type { ModelPrices, NewPrice, NewPrices, Price } from "./schema.ts";

/** The organization's own prices, and the list prices. */
export async function readPrices(ctx: Ctx): Promise<ModelPrices> {
  const own = await storedPrices(ctx.db, ctx.membership.organizationId);
  const { asOf, currency, prices } = listPrices;
  return {
    prices: own.map(shown),
    currency: pricesOf(own).currency,
    listPrices: { asOf, prices: prices.map(({ source, ...price }) => ({ ...shown({ ...price, currency }), source })) },
  };
}

const columns = {
  provider: modelPrices.provider,
  model: modelPrices.model,
  input: modelPrices.input,
  cachedInput: modelPrices.cachedInput,
  cacheWrite: modelPrices.cacheWrite,
  output: modelPrices.output,
  currency: modelPrices.currency,
};

type StoredPrice = ModelPrice & { currency: string };

function storedPrices(db: Db, organizationId: string): Promise<StoredPrice[]> {
  return db
    .select(columns)
    .from(modelPrices)
    .where(eq(modelPrices.organizationId, organizationId))
    .orderBy(asc(modelPrices.provider), asc(modelPrices.model));
}

/** The prices of the joined row of `organizations`, as part of a larger statement; null for none. */
export const pricesOfOrganization = sql<StoredPrice[] | null>`(
  select json_agg(json_build_object(${sql.join(
    Object.entries(columns).map(([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`),
    sql`, `,
  )})) from ${modelPrices} where ${modelPrices.organizationId} = ${organizations.id}
)`;

/** The currency of the organization's costs. */
export async function currencyOf(db: Db, organizationId: string): Promise<string> {
  return pricesOf(await storedPrices(db, organizationId)).currency;
}

/** Replaces the organization's prices; turns that ended keep the costs that they had. */
export async function setPrices(ctx: Ctx, { prices }: NewPrices): Promise<ModelPrices> {
  const { organizationId, organizationSlug } = ctx.membership;
  const wanted = prices.map(toStored);
  const summary = { prices: wanted.length, currency: pricesOf(wanted).currency };
  let isSame = false;
  const change = { action: "model-prices.update", target: organizationSlug, summary, unchanged: () => isSame };
  await writeOrganization(ctx, change, async (tx) => {
    isSame = sameJson(byName(await storedPrices(tx, organizationId)), byName(wanted));
    if (isSame) return;
    await tx.delete(modelPrices).where(eq(modelPrices.organizationId, organizationId));
    if (wanted.length > 0) await tx.insert(modelPrices).values(wanted.map((price) => ({ organizationId, ...price })));
    await touchAgentsOf(tx, organizationId);
  });
  return readPrices(ctx);
}

const byName = (prices: readonly StoredPrice[]) =>
  Object.fromEntries(prices.map((price) => [`${price.provider}:${price.model}`, { ...price }]));

function toStored({ provider, model, currency, ...price }: NewPrice): StoredPrice {
  const { inputPerMillion, cachedInputPerMillion, cacheWritePerMillion, outputPerMillion } = price;
  return {
    provider,
    model,
    input: microsOf(inputPerMillion),
    cachedInput: typeof cachedInputPerMillion === "number" ? microsOf(cachedInputPerMillion) : null,
    cacheWrite: typeof cacheWritePerMillion === "number" ? microsOf(cacheWritePerMillion) : null,
    output: microsOf(outputPerMillion),
    currency,
  };
}

function shown({ provider, model, input, cachedInput, cacheWrite, output, currency }: StoredPrice): Price {
  return {
    provider,
    model,
    inputPerMillion: amountOf(input),
    cachedInputPerMillion: cachedInput === null ? null : amountOf(cachedInput),
    cacheWritePerMillion: cacheWrite === null ? null : amountOf(cacheWrite),
    outputPerMillion: amountOf(output),
    currency,
  };
}

const amountOf = (micros: number) => micros / 1_000_000;
