import { and, desc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { eventBacklog } from "../../../db/schema.ts";
import { countTotal } from "../../../http/paging.ts";
import { findAgent } from "../../agents/index.ts";
import { undeliveredOfTurns } from "../../inbox/index.ts";
import type { BacklogEntry, BacklogQuery } from "./schema.ts";
import type { BacklogRow } from "./status.ts";

/** A page of an agent's backlog, newest first. Throws the 404 of the agent. */
export async function listBacklog(ctx: Ctx, slug: string, { status, limit = 20, offset = 0 }: BacklogQuery) {
  const { id: agentId } = await findAgent(ctx, slug);
  const wanted = and(
    eq(eventBacklog.agentId, agentId),
    status === undefined ? undefined : eq(eventBacklog.status, status),
  );
  const rows = await ctx.db
    .select()
    .from(eventBacklog)
    .where(wanted)
    .orderBy(desc(eventBacklog.matchedAt), desc(eventBacklog.id))
    .limit(limit)
    .offset(offset);
  const matches = ctx.db.select({ id: eventBacklog.id }).from(eventBacklog).where(wanted);
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, matches);
  const undelivered = await undeliveredOfTurns(ctx.db, rows.map(completedBy));
  const events = rows.map((row) => ({
    ...toEntry(row),
    error: row.error ?? undelivered.get(completedBy(row) ?? "") ?? null,
  }));
  return { events, total, limit, offset };
}

/** The turn that completed an entry; null for none. */
const completedBy = ({ status, claim }: BacklogRow) => (status === "completed" ? claim : null);

/** An entry in its API form. */
export function toEntry({ definitionId, matchedAt, completedAt, notBefore, ...row }: BacklogRow): BacklogEntry {
  const { id, rawPayload, status, reactNotes, attempts, error } = row;
  return {
    id,
    eventDefinitionId: definitionId,
    rawPayload,
    matchedAt: matchedAt.toISOString(),
    status,
    completedAt: completedAt?.toISOString() ?? null,
    reactNotes,
    attempts,
    error,
    notBefore: notBefore?.toISOString() ?? null,
  };
}
