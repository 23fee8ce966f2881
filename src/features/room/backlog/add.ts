import { and, eq, lt, sql } from "drizzle-orm";
import { newId } from "../../../core/ids.ts";
import type { JsonValue } from "../../../core/json.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { eventBacklog, rooms } from "../../../db/schema.ts";

/** The most pending entries of an agent (spec "Limits": Backlog). */
export const mostPending = 100;

export interface NewEntry {
  agentId: string;
  organizationId: string;
  roomEventId: string;
  definitionId: string;
  payload: JsonValue;
  /** In milliseconds since the epoch. */
  now: number;
}

export type Added = { outcome: "backlog"; backlogId: string } | { outcome: "backlog-full" } | { outcome: "room-off" };

/**
 * Adds an event to the Room's backlog, unless the Room is off or missing, or its backlog is full. The caller checks
 * whether the agent is active. The Room's row is locked until the end of the transaction, so that the limit is exact
 * for events at the same time.
 */
export async function addToBacklog(
  tx: Db,
  { agentId, organizationId, roomEventId, definitionId, payload, now }: NewEntry,
): Promise<Added> {
  const at = new Date(now);
  const [counted] = await tx
    .update(rooms)
    .set({
      pendingCount: sql`${rooms.pendingCount} + 1`,
      dueAt: sql`least(${rooms.dueAt}, ${at.toISOString()}::timestamptz)`,
    })
    .where(and(eq(rooms.agentId, agentId), eq(rooms.enabled, true), lt(rooms.pendingCount, mostPending)))
    .returning({ id: rooms.id });
  if (!counted) return { outcome: await whyNot(tx, agentId) };
  const id = newId();
  const rawPayload = sql`${storableJson(payload)}::jsonb`;
  await tx
    .insert(eventBacklog)
    .values({ id, agentId, organizationId, roomEventId, definitionId, rawPayload, matchedAt: at });
  return { outcome: "backlog", backlogId: id };
}

async function whyNot(tx: Db, agentId: string): Promise<"backlog-full" | "room-off"> {
  const [room] = await tx.select({ enabled: rooms.enabled }).from(rooms).where(eq(rooms.agentId, agentId));
  return room?.enabled ? "backlog-full" : "room-off";
}
