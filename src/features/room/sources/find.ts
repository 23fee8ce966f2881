import { and, eq, isNull } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import { digestOf, isWebhookToken, openCredentials } from "../../../core/credentials/event-source.ts";
import type { Db } from "../../../db/client.ts";
import { actingAgent, agents, eventDefinitions, eventSources, organizations } from "../../../db/schema.ts";
import type { EventCondition } from "../events/conditions.ts";
import { type DefinitionRow, selectDefinitions } from "./rows.ts";

/** An enabled definition, as the matcher needs it. */
export type EventDefinition = Omit<DefinitionRow, "conditions"> & { conditions: readonly EventCondition[] };

/** A source, as its webhook needs it. */
export interface WebhookSource {
  id: string;
  name: string;
  agent: ActingAgent;
  enabled: boolean;
  /** Whether the agent is active. */
  active: boolean;
  /** The key that each request must have; null when the secret address is enough. */
  authKey: string | null;
}

/** The source that a webhook's token addresses; null for an unknown token. */
export async function findSourceByToken(
  { database, cipher }: Pick<Services, "database" | "cipher">,
  token: string,
): Promise<WebhookSource | null> {
  if (!isWebhookToken(token)) return null;
  const [row] = await database.db
    .select({ source: eventSources, agent: actingAgent, active: agents.active })
    .from(eventSources)
    .innerJoin(agents, eq(agents.id, eventSources.agentId))
    .innerJoin(organizations, eq(organizations.id, agents.organizationId))
    .where(and(eq(eventSources.tokenDigest, await digestOf(token)), isNull(organizations.deletedAt)));
  if (!row) return null;
  const { id, name, enabled, hasAuthKey } = row.source;
  const { authKey = null } = hasAuthKey ? await openCredentials(cipher, row.source) : {};
  // A key that can't be read must not leave the webhook open.
  if (hasAuthKey && authKey === null) throw new Error(`The event source ${id} has lost its key`);
  return { id, name, enabled, authKey, agent: row.agent, active: row.active };
}

/** The enabled definitions of a source, in the matcher's order. */
export async function definitionsOf(db: Db, sourceId: string): Promise<EventDefinition[]> {
  const enabled = and(eq(eventDefinitions.sourceId, sourceId), eq(eventDefinitions.enabled, true));
  const rows = await selectDefinitions(db, enabled);
  return rows.map((row) => ({ ...row, conditions: row.conditions as EventCondition[] }));
}
