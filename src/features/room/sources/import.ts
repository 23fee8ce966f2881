import { and, asc, eq, notInArray, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import type { ImportNotes } from "../../../core/bundle.ts";
import { newWebhookToken, sealCredentials } from "../../../core/credentials/event-source.ts";
import { newId } from "../../../core/ids.ts";
import { asJson, sameJson } from "../../../core/json.ts";
import { takeNamed } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { eventSources } from "../../../db/schema.ts";
import type { AgentRow } from "../../agents/index.ts";
import { importDefinitions } from "./import-definitions.ts";
import type { SourceRow } from "./rows.ts";
import type { BundledSource } from "./schema.ts";

/**
 * Gives an agent exactly these sources, in a transaction of `writeAgent`. A stored one of the same name keeps its
 * address and key; a new one gets a new address.
 */
export async function importSources(
  tx: Db,
  ctx: Ctx,
  agent: AgentRow,
  wanted: readonly BundledSource[],
  notes: ImportNotes,
): Promise<void> {
  const stored = await tx
    .select()
    .from(eventSources)
    .where(eq(eventSources.agentId, agent.id))
    .orderBy(asc(eventSources.createdAt), asc(eventSources.id));
  const matched = wanted.map((source) => ({ source, row: takeNamed(stored, source.name) }));
  if (stored.length > 0) {
    const kept = matched.flatMap(({ row }) => row?.id ?? []);
    await tx.delete(eventSources).where(and(eq(eventSources.agentId, agent.id), notInArray(eventSources.id, kept)));
  }
  for (const { source, row } of matched) if (row && !isSame(row, source)) await update(tx, ctx, row.id, source);
  const added = matched.map(({ row }) => row?.id ?? newId());
  await insert(
    tx,
    ctx,
    agent,
    matched.flatMap(({ source, row }, index) => (row ? [] : [{ source, id: added[index] ?? "" }])),
  );
  for (const [index, { source, row }] of matched.entries()) {
    if (!source.authKeyConfigured || row?.hasAuthKey) continue;
    const message = `The event source ${source.name} has no key yet, so that its address is enough to send events: set authKey`;
    notes.warn("secret_missing", ["instance", "eventSources", index], message);
  }
  const lists = matched.map(({ source }, index) => ({ sourceId: added[index] ?? "", definitions: source.definitions }));
  await importDefinitions(tx, ctx, agent, lists);
}

const fieldsOf = ({ name, sourceType, config, enabled }: SourceRow | BundledSource) => ({
  name,
  sourceType,
  config,
  enabled,
});

const isSame = (row: SourceRow, source: BundledSource) => sameJson(asJson(fieldsOf(row)), asJson(fieldsOf(source)));

async function update(tx: Db, ctx: Ctx, id: string, source: BundledSource): Promise<void> {
  const columns = { ...fieldsOf(source), updatedBy: authorOf(ctx), updatedAt: sql`now()` };
  await tx.update(eventSources).set(columns).where(eq(eventSources.id, id));
}

async function insert(
  tx: Db,
  ctx: Ctx,
  { id: agentId, organizationId }: AgentRow,
  list: readonly { source: BundledSource; id: string }[],
): Promise<void> {
  if (list.length === 0) return;
  const author = authorOf(ctx);
  const rows = list.map(async ({ source, id }) => {
    const sealed = await sealCredentials(ctx.cipher, id, { webhookToken: newWebhookToken() });
    return { ...fieldsOf(source), ...sealed, id, agentId, organizationId, createdBy: author, updatedBy: author };
  });
  await tx.insert(eventSources).values(await Promise.all(rows));
}
