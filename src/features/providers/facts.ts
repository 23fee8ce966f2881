import { and, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import { notFound } from "../../core/errors.ts";
import { type Admission, type ModelFacts, unconfigured } from "../../core/models/facts.ts";
import { isProviderName, providerSecrets } from "../../core/models/providers.ts";
import { usableKeys } from "../../core/policies.ts";
import { sortByName } from "../../core/text/names.ts";
import type { Db } from "../../db/client.ts";
import {
  agents,
  firstOrganization,
  providerBindings,
  providerConnections,
  secrets,
  workspaceProviders,
} from "../../db/schema.ts";
import { findAgent } from "../agents/index.ts";
import { toKnown } from "./connections/rules.ts";

/**
 * The facts that decide the models of agents, by the agents' ids, with all connections that each agent could bind, by
 * name. Takes four statements, however many agents there are. Keys are not opened: a stored one counts as there.
 */
export async function readFacts(
  { policies, options }: Pick<Services, "policies" | "options">,
  db: Db,
  which: SQL | undefined,
): Promise<Map<string, ModelFacts>> {
  const { defaultModel } = policies.values;
  const rows = await readAgents(db, which);
  const related = await readRelated(db, which);
  return new Map(
    rows.map(({ id, organizationId, inFirst, admission, ...own }) => {
      const bound = related.bindings.get(id)?.map(({ role, ...binding }) => [role, binding] as const);
      const facts: ModelFacts = {
        own: { ...own, provider: own.provider !== null && isProviderName(own.provider) ? own.provider : null },
        bindings: Object.fromEntries(bound ?? []),
        connections: [...(related.shared.get(organizationId) ?? []), ...(related.own.get(id) ?? [])],
        admission: admission ?? unconfigured.admission,
        secrets: new Set(related.secrets.get(id)?.map(({ key }) => key)),
        environment: usableKeys(policies.values, options.environmentKeys, inFirst),
        defaultModel,
      };
      return [id, facts];
    }),
  );
}

const readAgents = (db: Db, which: SQL | undefined) =>
  db
    .select({
      id: agents.id,
      organizationId: agents.organizationId,
      provider: agents.provider,
      model: agents.model,
      fastModel: agents.fastModel,
      inFirst: sql<boolean>`${agents.organizationId} = (${firstOrganization})`,
      admission: workspaceProviders,
    })
    .from(agents)
    .leftJoin(workspaceProviders, eq(workspaceProviders.workspaceId, agents.workspaceId))
    .where(which);

/** The rows of other tables that concern these agents: shared connections by organization, all else by agent. */
async function readRelated(db: Db, which: SQL | undefined) {
  const ids = db.select({ id: agents.id }).from(agents).where(which);
  const organizations = db.select({ id: agents.organizationId }).from(agents).where(which);
  const { ciphertext: _sealed, ...columns } = getTableColumns(providerConnections);
  const connections = await db
    .select(columns)
    .from(providerConnections)
    .where(inArray(providerConnections.organizationId, organizations));
  const known = sortByName(connections).map((row) => ({ ...row, ...toKnown(row) }));
  const bindings = await db.select().from(providerBindings).where(inArray(providerBindings.agentId, ids));
  const keys = await db
    .select({ agentId: secrets.agentId, key: secrets.key })
    .from(secrets)
    .where(and(inArray(secrets.agentId, ids), inArray(secrets.key, providerSecrets)));
  return {
    shared: Map.groupBy(
      known.filter(({ shared }) => shared),
      ({ organizationId }) => organizationId,
    ),
    own: Map.groupBy(known, ({ agentId }) => agentId),
    bindings: Map.groupBy(bindings, ({ agentId }) => agentId),
    secrets: Map.groupBy(keys, ({ agentId }) => agentId),
  };
}

/** The providers, models and connections that a workspace admits. */
export async function readAdmission(db: Db, workspaceId: string): Promise<Admission> {
  const { admitted, privateConnections } = workspaceProviders;
  const [row] = await db
    .select({ admitted, privateConnections })
    .from(workspaceProviders)
    .where(eq(workspaceProviders.workspaceId, workspaceId));
  return row ?? unconfigured.admission;
}

/** The facts of one agent. Throws its 404. */
export async function readAgentFacts(ctx: Ctx, slug: string): Promise<ModelFacts> {
  const { id } = await findAgent(ctx, slug);
  return requireFacts(ctx, ctx.db, id);
}

/** The facts of an agent that was found. */
export async function requireFacts(services: Services, db: Db, agentId: string): Promise<ModelFacts> {
  const facts = (await readFacts(services, db, eq(agents.id, agentId))).get(agentId);
  if (!facts) throw notFound("Agent");
  return facts;
}
