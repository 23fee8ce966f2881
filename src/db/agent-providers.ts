import { sql } from "drizzle-orm";
import type { Admission, Binding, KnownConnection } from "../core/models/facts.ts";
import type { ProviderRole } from "../core/models/roles.ts";
import { jsonObject } from "./fragments.ts";
import { agents, providerBindings, providerConnections, workspaceProviders } from "./schema.ts";

/** A connection of an agent. */
interface StoredConnection extends Omit<KnownConnection, "hasKey" | "hasAddress"> {
  baseUrl: string | null;
  keyId: string | null;
  /** The sealed key, in base64. */
  ciphertext: string | null;
}

/** An agent's bindings, the connections that can answer for it, and the admission of its workspace. */
export interface StoredProviders {
  bindings: (Binding & { role: ProviderRole })[] | null;
  connections: StoredConnection[] | null;
  admission: Admission | null;
}

const ofAgent = sql`${providerBindings.agentId} = ${agents.id}`;

const bindings = sql<StoredProviders["bindings"]>`(
  select json_agg(${jsonObject({
    role: providerBindings.role,
    connectionId: providerBindings.connectionId,
    model: providerBindings.model,
    fallbacks: providerBindings.fallbacks,
  })}) from ${providerBindings} where ${ofAgent})`;

const { id, organizationId, agentId, isDefault } = providerConnections;

/** The ids of the connections; by them the table is read with its primary key. */
const named = sql`
  select ${id} from ${providerConnections} where ${organizationId} = ${agents.organizationId} and ${isDefault}
  union all
  select ${providerBindings.connectionId} from ${providerBindings} where ${ofAgent}
  union all
  select (fallback ->> 'connectionId')::uuid
  from ${providerBindings}, jsonb_array_elements(${providerBindings.fallbacks}) fallback where ${ofAgent}`;

/** The organization's default connection, and those that the agent binds: shared ones and its own. */
const connections = sql<StoredProviders["connections"]>`(
  select json_agg(${jsonObject({
    id,
    name: providerConnections.name,
    provider: providerConnections.provider,
    baseUrl: providerConnections.baseUrl,
    keyId: providerConnections.keyId,
    ciphertext: sql`encode(${providerConnections.ciphertext}, 'base64')`,
    enabled: providerConnections.enabled,
    shared: sql`${agentId} is null`,
    isDefault,
  })}) from ${providerConnections}
  where ${id} = any(array(${named})) and ${organizationId} = ${agents.organizationId}
    and (${agentId} is null or ${agentId} = ${agents.id}))`;

const admission = sql<StoredProviders["admission"]>`(
  select ${jsonObject({
    admitted: workspaceProviders.admitted,
    privateConnections: workspaceProviders.privateConnections,
  })} from ${workspaceProviders} where ${workspaceProviders.workspaceId} = ${agents.workspaceId})`;

/** The providers of an agent, for statements that read `agents` together with another table. */
export const agentProviders = sql<StoredProviders>`${jsonObject({ bindings, connections, admission })}`;

/** Whether an agent has a model for background work. */
export const hasFastModel = sql<boolean>`(${agents.fastModel} is not null or exists (
  select from ${providerBindings} where ${ofAgent} and ${providerBindings.role} = 'fast'))`;
