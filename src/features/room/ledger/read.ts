import { and, desc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { roomEvents } from "../../../db/schema.ts";
import { countTotal } from "../../../http/paging.ts";
import { findAgent } from "../../agents/index.ts";
import { undeliveredOf } from "../../inbox/index.ts";
import type { Verdict } from "../match/schema.ts";
import type { RoomEvent, RoomEventsQuery } from "./schema.ts";

type EventRow = typeof roomEvents.$inferSelect;

/** A page of an agent's ledger, newest first. Throws the 404 of the agent. */
export async function listEvents(ctx: Ctx, slug: string, query: RoomEventsQuery) {
  const { limit = 20, offset = 0, outcome, eventSourceId } = query;
  const { id: agentId } = await findAgent(ctx, slug);
  const wanted = and(
    eq(roomEvents.agentId, agentId),
    outcome && eq(roomEvents.outcome, outcome),
    eventSourceId === undefined ? undefined : eq(roomEvents.sourceId, eventSourceId),
  );
  const rows = await ctx.db
    .select()
    .from(roomEvents)
    .where(wanted)
    .orderBy(desc(roomEvents.receivedAt), desc(roomEvents.id))
    .limit(limit)
    .offset(offset);
  const matches = ctx.db.select({ id: roomEvents.id }).from(roomEvents).where(wanted);
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, matches);
  return { events: await showEvents(ctx.db, agentId, rows), total, limit, offset };
}

/** One event of an agent. Throws the 404 of both. */
export async function getEvent(ctx: Ctx, slug: string, id: string): Promise<RoomEvent> {
  const { id: agentId } = await findAgent(ctx, slug);
  const [event] = await showEvents(ctx.db, agentId, [await findEvent(ctx.db, agentId, id)]);
  if (!event) throw notFound("Event");
  return event;
}

/** The row of an agent's event. Throws the 404. */
export async function findEvent(db: Db, agentId: string, id: string): Promise<EventRow> {
  const [row] = await db
    .select()
    .from(roomEvents)
    .where(and(hasId(roomEvents.id, id), eq(roomEvents.agentId, agentId)));
  if (!row) throw notFound("Event");
  return row;
}

/** Events in their API form, with the reasons why replies of their conversations were not delivered. */
async function showEvents(db: Db, agentId: string, rows: readonly EventRow[]): Promise<RoomEvent[]> {
  const refs = rows.map(({ conversationRef }) => conversationRef);
  const undelivered = await undeliveredOf(db, agentId, refs);
  return rows.map((row) => toEvent(row, undelivered.get(row.conversationRef ?? "") ?? null));
}

function toEvent(row: EventRow, undelivered: string | null): RoomEvent {
  const { id, payload, outcome, definitionId, backlogId, replayOf } = row;
  return {
    id,
    payload,
    outcome,
    definitionId,
    reason: row.reason ?? undelivered,
    backlogId,
    replayOf,
    eventSourceId: row.sourceId,
    receivedAt: row.receivedAt.toISOString(),
    verdicts: row.verdicts as Verdict[],
    conversationId: row.conversationRef,
  };
}
