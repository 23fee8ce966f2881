import { and, asc, eq, exists, gt, inArray, or, sql } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import type { ModelFacts, Unusable } from "../../core/models/facts.ts";
import { pricesOf } from "../../core/models/list-prices.ts";
import { findPrice, type Prices } from "../../core/models/prices.ts";
import type { ConnectionProvider } from "../../core/models/providers.ts";
import { resolveModel } from "../../core/models/resolve.ts";
import type { Db } from "../../db/client.ts";
import { agents, organizations, providerBindings, providerConnections, workspaceProviders } from "../../db/schema.ts";
import { withinReach } from "../agents/index.ts";
import { readFacts } from "./facts.ts";
import { pricesOfOrganization } from "./prices/service.ts";

export interface ProvidersReport {
  /** The agents whose configured model may not answer. */
  unusable: { slug: string; reason: Unusable }[];
  /** The agents with a budget in money whose models have no price, and these models. */
  unpriced: { slug: string; models: string[] }[];
}

/** How many agents are read at once. */
const pageSize = 500;

/** Why the configured model of an agent may not answer its conversations; null when it may. */
function problemOf(facts: ModelFacts): Unusable | null {
  const { answerers, reason } = resolveModel("chat", facts);
  return answerers.length === 0 ? reason : null;
}

/** Whether an agent's model can be refused: only a bound one and one of a workspace with limits can. */
const mayBeRefused = (db: Db) =>
  or(
    exists(db.select({ one: sql`1` }).from(providerBindings).where(eq(providerBindings.agentId, agents.id))),
    exists(
      db.select({ one: sql`1` }).from(workspaceProviders).where(eq(workspaceProviders.workspaceId, agents.workspaceId)),
    ),
  );

/** Finds agents that can't answer, and budgets in money without prices. Only reads. */
export async function inspectProviders(services: Services): Promise<ProvidersReport> {
  const { db } = services.database;
  const report: ProvidersReport = { unusable: [], unpriced: [] };
  const isBudgeted = sql<boolean>`num_nonnulls(${agents.monthlyCostBudget}, ${agents.userMonthlyCostBudget}) > 0`;
  for (let after: string | undefined; ; ) {
    const page = await db
      .select({ id: agents.id, slug: agents.slug, isBudgeted, ownPrices: pricesOfOrganization })
      .from(agents)
      .innerJoin(organizations, eq(organizations.id, agents.organizationId))
      .where(and(or(mayBeRefused(db), isBudgeted), after === undefined ? undefined : gt(agents.id, after)))
      .orderBy(asc(agents.id))
      .limit(pageSize);
    const ids = page.map(({ id }) => id);
    const all = await readFacts(services, db, inArray(agents.id, ids));
    for (const { id, slug, isBudgeted: wantsPrices, ownPrices } of page) {
      const facts = all.get(id);
      if (!facts) continue;
      const reason = problemOf(facts);
      if (reason) report.unusable.push({ slug, reason });
      const models = wantsPrices ? unpricedModels(facts, pricesOf(ownPrices ?? [])) : [];
      if (models.length > 0) report.unpriced.push({ slug, models });
    }
    after = ids.at(-1);
    if (page.length < pageSize) return report;
  }
}

function unpricedModels(facts: ModelFacts, prices: Prices): string[] {
  const { answerers } = resolveModel("chat", facts);
  const without = answerers.filter(({ provider, model }) => findPrice(prices, provider, model) === null);
  return without.map(({ provider, model }) => `${provider}:${model}`);
}

/** Why agents of the caller's reach can't answer, by their ids; with `agentId` only for one. */
export async function providerProblems(ctx: Ctx, agentId?: string): Promise<ReadonlyMap<string, Unusable>> {
  if (!ctx.options.edition.has("providers")) return new Map();
  const wanted = agentId === undefined ? undefined : eq(agents.id, agentId);
  const all = await readFacts(ctx, ctx.db, and(withinReach(ctx), wanted, mayBeRefused(ctx.db)));
  return new Map(
    [...all].flatMap(([id, facts]): [string, Unusable][] => {
      const reason = problemOf(facts);
      return reason ? [[id, reason]] : [];
    }),
  );
}

/** The provider of the organization's default connection; null without a usable one. */
export async function defaultProvider({ db, membership, options }: Ctx): Promise<ConnectionProvider | null> {
  if (!options.edition.has("providers")) return null;
  const isDefault = and(
    eq(providerConnections.organizationId, membership.organizationId),
    providerConnections.isDefault,
    providerConnections.enabled,
  );
  const [found] = await db
    .select({ provider: providerConnections.provider })
    .from(providerConnections)
    .where(isDefault);
  return found?.provider ?? null;
}
