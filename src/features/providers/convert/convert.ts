import { and, asc, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import { type Ctx, type Services, systemCtx } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  type ProviderName,
  providerNames,
  providerSecrets,
} from "../../../core/models/providers.ts";
import { usableKeys } from "../../../core/policies.ts";
import type { Db } from "../../../db/client.ts";
import {
  agents,
  firstOrganization,
  organizations,
  providerBindings,
  providerConnections,
  secrets,
} from "../../../db/schema.ts";
import { openSecrets } from "../../secrets/index.ts";
import { keyPlace, toKnown } from "../connections/rules.ts";
import { type Home, readConnections, writeConnections } from "../connections/store.ts";
import { requireFacts } from "../facts.ts";
import { freeName, planBindings } from "./plan.ts";

/** How many agents are read at once. */
const pageSize = 100;

/**
 * Turns the provider keys and addresses among agents' secrets into private connections, bound to the roles that they
 * answered for (managed M6). Runs at each start with the feature, and finds nothing after the first one. Secrets that no
 * encryption key opens stay. An interrupted conversion goes on with the next start.
 */
export async function convertSecrets(services: Services): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const page = await readOwners(services.database.db, after);
    for (const { slug, providers, ...organization } of page) {
      const ctx = systemCtx(services, organization, "upgrade");
      for (const provider of providers) await unlessDeleted(() => convertProvider(ctx, slug, provider));
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
}

/** Another replica may delete the agent or its organization meanwhile. */
async function unlessDeleted(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof EngineError) || error.code !== "not-found") throw error;
  });
}

/** The next agents that have secrets of providers, and of which ones. */
async function readOwners(db: Db, after: string | undefined) {
  const rows = await db
    .select({
      id: agents.id,
      slug: agents.slug,
      organizationId: agents.organizationId,
      organizationSlug: organizations.slug,
      first: sql<boolean>`${agents.organizationId} = (${firstOrganization})`,
      keys: sql<string[]>`json_agg(${secrets.key})`,
    })
    .from(secrets)
    .innerJoin(agents, eq(agents.id, secrets.agentId))
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(
      and(
        inArray(secrets.key, [...providerSecrets]),
        isNull(organizations.deletedAt),
        after === undefined ? undefined : gt(agents.id, after),
      ),
    )
    .groupBy(agents.id, organizations.slug)
    .orderBy(asc(agents.id))
    .limit(pageSize);
  return rows.map(({ keys, ...row }) => ({
    ...row,
    providers: providerNames.filter((provider) => settingsOf(provider).some((key) => keys.includes(key))),
  }));
}

const settingsOf = (provider: ProviderName) => [apiKeySecret(provider), baseUrlSecret(provider)];

/** Turns the secrets of one provider into a connection, in one transaction. */
async function convertProvider(ctx: Ctx, slug: string, provider: ProviderName): Promise<void> {
  const summary: Record<string, unknown> = { provider };
  const change = { action: "provider-connection.create", name: provider, summary, unchanged: () => !("id" in summary) };
  await writeConnections(ctx, slug, change, async (tx, home) => {
    delete summary.id;
    const values = home && (await readSecrets(tx, ctx, home.id, provider));
    if (!values) return;
    const row = await connectionOf(tx, ctx, home, { provider, ...values });
    const facts = await requireFacts(ctx, tx, home.id);
    const roles = planBindings(facts, { ...toKnown(row), provider });
    await tx.insert(providerConnections).values(row);
    if (roles.length > 0) {
      const bound = roles.map(({ role, model }) => ({ agentId: home.id, role, connectionId: row.id, model }));
      await tx.insert(providerBindings).values(bound);
    }
    await tx.delete(secrets).where(isSetting(home.id, provider));
    Object.assign(summary, { id: row.id, name: row.name, roles: roles.map(({ role }) => role) });
  });
}

const isSetting = (agentId: string, provider: ProviderName) =>
  and(eq(secrets.agentId, agentId), inArray(secrets.key, settingsOf(provider)));

/** The provider's key and address among the agent's secrets; null without any, or when one of them does not open. */
async function readSecrets(tx: Db, { cipher, log }: Ctx, agentId: string, provider: ProviderName) {
  const rows = await tx.select().from(secrets).where(isSetting(agentId, provider));
  if (rows.length === 0) return null;
  const opened = await openSecrets(cipher, agentId, rows).catch(() => null);
  if (!opened) {
    log.warn({ agentId, provider }, "Secrets of a provider open with no configured key, and stay secrets");
    return null;
  }
  return { key: opened.get(apiKeySecret(provider)) ?? null, address: opened.get(baseUrlSecret(provider)) ?? null };
}

interface ProviderValues {
  provider: ProviderName;
  key: string | null;
  address: string | null;
}

async function connectionOf(tx: Db, ctx: Ctx, home: Home, { provider, key, address }: ProviderValues) {
  const taken = new Set((await readConnections(tx, ctx, home)).map(({ name }) => name));
  const { policies, options, membership } = ctx;
  const environment = usableKeys(policies.values, options.environmentKeys, membership.first);
  const id = newId();
  const sealed = key === null ? { keyId: null, ciphertext: null } : await ctx.cipher.seal(key, keyPlace(id));
  const now = new Date(ctx.clock.now());
  return {
    id,
    organizationId: membership.organizationId,
    agentId: home?.id ?? null,
    name: freeName(provider, taken),
    provider,
    // The agent's key was sent to the environment's address, where the agent had none.
    baseUrl: (address ?? environment.get(baseUrlSecret(provider)))?.trim() ?? null,
    ...sealed,
    enabled: true,
    isDefault: false,
    createdBy: null,
    updatedBy: null,
    createdAt: now,
    updatedAt: now,
  };
}
