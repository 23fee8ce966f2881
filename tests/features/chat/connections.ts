import { and, eq, sql } from "drizzle-orm";
import { newId } from "../../../src/core/ids.ts";
import type { Binding } from "../../../src/core/models/facts.ts";
import type { ConnectionProvider } from "../../../src/core/models/providers.ts";
import type { ProviderRole } from "../../../src/core/models/roles.ts";
import { agents, providerBindings, providerConnections, workspaceProviders } from "../../../src/db/schema.ts";
import { keyPlace } from "../../../src/features/providers/connections/rules.ts";
import type { Harness } from "../../harness.ts";

type World = Pick<Harness, "services" | "organization">;

interface NewConnection {
  provider?: ConnectionProvider;
  apiKey?: string | null;
  baseUrl?: string;
  /** The slug of the agent of a private connection. */
  of?: string;
  isDefault?: boolean;
  enabled?: boolean;
}

/**
 * Provider connections that are stored without a route, and without a notice to any process: only the agents' revisions
 * tell of a change.
 */
export function providersOf({ services, organization }: World) {
  const { database, cipher } = services;
  const { db } = database;
  const changed = () => db.update(agents).set({ revision: sql`${agents.revision} + 1` });
  const agentId = async (slug: string) => {
    const [agent] = await db.select({ id: agents.id }).from(agents).where(eq(agents.slug, slug));
    if (!agent) throw new Error(`No agent ${slug}`);
    return agent.id;
  };
  const sealed = async (id: string, apiKey: string | null) =>
    apiKey === null ? { keyId: null, ciphertext: null } : cipher.seal(apiKey, keyPlace(id));

  return {
    /** Returns the id. */
    async connect(name: string, { apiKey = `key-of-${name}`, of, ...fields }: NewConnection = {}): Promise<string> {
      const id = newId();
      const row = { id, organizationId: organization.id, name, provider: "mistral" as const, ...fields };
      const owner = of === undefined ? null : await agentId(of);
      await db.insert(providerConnections).values({ ...row, agentId: owner, ...(await sealed(id, apiKey)) });
      await changed();
      return id;
    },
    async change(id: string, fields: { enabled?: boolean; isDefault?: boolean; apiKey?: string | null }) {
      const { apiKey, ...others } = fields;
      const key = apiKey === undefined ? {} : await sealed(id, apiKey);
      await db
        .update(providerConnections)
        .set({ ...others, ...key })
        .where(eq(providerConnections.id, id));
      await changed();
    },
    async remove(id: string) {
      await db.delete(providerConnections).where(eq(providerConnections.id, id));
      await changed();
    },
    async bind(
      slug: string,
      role: ProviderRole,
      connectionId: string,
      more: Partial<Omit<Binding, "connectionId">> = {},
    ) {
      const { model = null, fallbacks = [] } = more;
      const binding = { connectionId, model, fallbacks: [...fallbacks] };
      await db
        .insert(providerBindings)
        .values({ agentId: await agentId(slug), role, ...binding })
        .onConflictDoUpdate({ target: [providerBindings.agentId, providerBindings.role], set: binding });
      await changed();
    },
    async unbind(slug: string, role: ProviderRole) {
      const id = await agentId(slug);
      await db.delete(providerBindings).where(and(eq(providerBindings.agentId, id), eq(providerBindings.role, role)));
      await changed();
    },
    /** Replaces the admission of the default workspace; null admits every provider. */
    async admit(providers: readonly ConnectionProvider[] | null) {
      const admitted = providers?.map((provider) => ({ provider, models: null })) ?? null;
      await db
        .insert(workspaceProviders)
        .values({ workspaceId: organization.workspaceId, admitted })
        .onConflictDoUpdate({ target: workspaceProviders.workspaceId, set: { admitted } });
      await changed();
    },
  };
}
