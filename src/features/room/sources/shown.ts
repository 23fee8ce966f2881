import { asc, eq } from "drizzle-orm";
import { type Ctx, publicAddress } from "../../../context/ctx.ts";
import { openCredentials } from "../../../core/credentials/event-source.ts";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { eventDefinitions, eventSources } from "../../../db/schema.ts";
import type { EventCondition } from "../events/conditions.ts";
import type { EventDefinition, NewEventDefinition } from "./definition-schema.ts";
import { type DefinitionRow, type SourceRow, selectDefinitions } from "./rows.ts";
import type { BundledSource, EventSource, EventSourceAddress } from "./schema.ts";

/** A source as the caller may see it. */
export async function showSource(
  ctx: Ctx,
  row: SourceRow,
  definitions: readonly DefinitionRow[],
): Promise<EventSource> {
  const { id, name, sourceType, config, enabled, hasAuthKey, createdAt, updatedAt } = row;
  return {
    id,
    name,
    sourceType,
    config,
    enabled,
    ...(await addressFor(ctx, row)),
    authKeyConfigured: hasAuthKey,
    definitions: definitions.map(showDefinition),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Anyone with the address can send events, so only callers who may create a source see it. */
async function addressFor(ctx: Ctx, row: SourceRow): Promise<Partial<Omit<EventSourceAddress, "id">>> {
  if (!ctx.membership.permissions.has("agent.room:write")) return {};
  const { webhookToken } = await openCredentials(ctx.cipher, row);
  return addressOf(ctx, webhookToken);
}

/** The address to which a source's sender posts its events. */
export function addressOf(ctx: Ctx, webhookToken: string): Omit<EventSourceAddress, "id"> {
  return { webhookToken, webhookUrl: `${publicAddress(ctx)}/webhooks/${webhookToken}` };
}

/** A definition in its API form. */
export function showDefinition(row: DefinitionRow): EventDefinition {
  const { sourceId, agentId, createdBy, updatedBy, conditions, createdAt, updatedAt, ...shown } = row;
  return {
    ...shown,
    conditions: conditions as EventCondition[],
    outboundChannel: row.outboundChannel as EventDefinition["outboundChannel"],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** The sources of an agent by name, with their definitions in order, for a bundle: without credentials. */
export async function exportSources(db: Db, agentId: string): Promise<BundledSource[]> {
  const rows = await db
    .select()
    .from(eventSources)
    .where(eq(eventSources.agentId, agentId))
    .orderBy(asc(eventSources.createdAt), asc(eventSources.id));
  const definitions = Map.groupBy(
    await selectDefinitions(db, eq(eventDefinitions.agentId, agentId)),
    ({ sourceId }) => sourceId,
  );
  return sortByName(rows).map((row) => toBundled(row, definitions.get(row.id) ?? []));
}

function toBundled(
  { name, sourceType, config, enabled, hasAuthKey }: SourceRow,
  definitions: readonly DefinitionRow[],
): BundledSource {
  return {
    name,
    sourceType,
    config,
    enabled,
    authKeyConfigured: hasAuthKey,
    definitions: definitions.map(bundledDefinition),
  };
}

/** A definition in a bundle. */
export function bundledDefinition(row: DefinitionRow): NewEventDefinition {
  const { id, createdAt, updatedAt, ...definition } = showDefinition(row);
  return definition;
}
