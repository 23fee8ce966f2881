import { asc, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { newWebhookToken, openCredentials, sealCredentials } from "../../../core/credentials/event-source.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { eventDefinitions, eventSources } from "../../../db/schema.ts";
import { findAgent, writeAgent } from "../../agents/index.ts";
import { findSource, type SourceRow, selectDefinitions } from "./rows.ts";
import { mostSources } from "./rules.ts";
import type { EventSource, EventSourceAddress, EventSourceChanges, NewEventSource } from "./schema.ts";
import { addressOf, showSource } from "./shown.ts";

/** All sources of an agent with their definitions, by age. Throws the 404. */
export async function listSources(ctx: Ctx, slug: string): Promise<EventSource[]> {
  const { id } = await findAgent(ctx, slug);
  const rows = await ctx.db
    .select()
    .from(eventSources)
    .where(eq(eventSources.agentId, id))
    .orderBy(asc(eventSources.createdAt), asc(eventSources.id));
  const definitions = Map.groupBy(
    await selectDefinitions(ctx.db, eq(eventDefinitions.agentId, id)),
    ({ sourceId }) => sourceId,
  );
  return Promise.all(rows.map((row) => showSource(ctx, row, definitions.get(row.id) ?? [])));
}

/** Creates a source. Throws the 404 of the agent, and 409 for too many sources. */
export async function createSource(
  ctx: Ctx,
  slug: string,
  { authKey, ...input }: NewEventSource,
): Promise<EventSourceAddress> {
  const id = newId();
  const webhookToken = newWebhookToken();
  const { name, sourceType } = input;
  const summary = { sourceId: id, name, sourceType, authKeyConfigured: authKey != null };
  return writeAgent(ctx, slug, { ...change("create"), summary }, async (tx, { id: agentId, organizationId }) => {
    if ((await tx.$count(eventSources, eq(eventSources.agentId, agentId))) >= mostSources) {
      throw new EngineError("conflict", `An agent has at most ${mostSources} event sources: delete one first`);
    }
    const sealed = await sealCredentials(ctx.cipher, id, { webhookToken, authKey: authKey ?? undefined });
    const author = authorOf(ctx);
    const row = { ...input, ...sealed, id, agentId, organizationId, createdBy: author, updatedBy: author };
    await tx.insert(eventSources).values(row);
    return { id, ...addressOf(ctx, webhookToken) };
  });
}

/** Changes the given fields; `config` is replaced as a whole. Throws the 404 of agent and source. */
export async function updateSource(
  ctx: Ctx,
  slug: string,
  id: string,
  { authKey, ...changes }: EventSourceChanges,
): Promise<EventSource> {
  const changed: Changes = {};
  const summary = { sourceId: id, replaced: [] as string[] };
  const unchanged = () => summary.replaced.length === 0 && Object.keys(changed).length === 0;
  const updating = { ...change("update"), summary, changes: changed, unchanged };
  return writeAgent(ctx, slug, updating, async (tx, agent) => {
    const stored = await findSource(tx, agent, id);
    const credentials = await openCredentials(ctx.cipher, stored);
    const replacesKey = authKey !== undefined && authKey !== (credentials.authKey ?? null);
    const sealed = replacesKey
      ? await sealCredentials(ctx.cipher, stored.id, { ...credentials, authKey: authKey ?? undefined })
      : {};
    const columns = { ...changes, ...sealed, updatedBy: authorOf(ctx), updatedAt: sql`now()` };
    const [row] = await tx.update(eventSources).set(columns).where(eq(eventSources.id, stored.id)).returning();
    if (!row) throw notFound("Event source");
    const { config, ...fields } = changesBetween(configurationOf(stored), configurationOf(row));
    Object.assign(changed, fields);
    // The audit log contains only the names of fields that are sealed or may contain a secret.
    summary.replaced = [...(config ? ["config"] : []), ...(replacesKey ? ["authKey"] : [])];
    return showSource(ctx, row, await selectDefinitions(tx, eq(eventDefinitions.sourceId, row.id)));
  });
}

const configurationOf = ({ name, sourceType, config, enabled }: SourceRow) => ({ name, sourceType, config, enabled });

/** Deletes a source with its definitions; its events stay in the ledger. Throws the 404 of agent and source. */
export async function deleteSource(ctx: Ctx, slug: string, id: string): Promise<void> {
  await writeAgent(ctx, slug, { ...change("delete"), summary: { sourceId: id } }, async (tx, agent) => {
    const stored = await findSource(tx, agent, id);
    await tx.delete(eventSources).where(eq(eventSources.id, stored.id));
  });
}

/** Gives the source a new address; the former one stops working at once. Throws the 404 of agent and source. */
export async function rotateToken(ctx: Ctx, slug: string, id: string): Promise<EventSourceAddress> {
  return writeAgent(ctx, slug, { ...change("rotate-token"), summary: { sourceId: id } }, async (tx, agent) => {
    const stored = await findSource(tx, agent, id);
    const webhookToken = newWebhookToken();
    const credentials = { ...(await openCredentials(ctx.cipher, stored)), webhookToken };
    const sealed = await sealCredentials(ctx.cipher, stored.id, credentials);
    const columns = { ...sealed, updatedBy: authorOf(ctx), updatedAt: sql`now()` };
    await tx.update(eventSources).set(columns).where(eq(eventSources.id, stored.id));
    return { id: stored.id, ...addressOf(ctx, webhookToken) };
  });
}

/** Turns hide the credentials of sources, so agents must be loaded again for new ones, but not for deleted ones. */
const change = (verb: string) => ({ action: `agent.event-source.${verb}`, agentUnchanged: verb === "delete" });
