import { and, eq, inArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { eventBacklog, rooms } from "../../../db/schema.ts";

export type RoomRow = typeof rooms.$inferSelect;

/**
 * In milliseconds: when a Room whose job was lost is due again. Its entries stay `processing` as long as the job runs,
 * and the tick starts no second job meanwhile.
 */
const lostAfterMs = 10 * 60_000;

/**
 * Locks an agent's Room until the end of the transaction; null when there is none. Every transaction locks the Room
 * before its entries, so that there is no deadlock.
 */
export async function lockRoom(tx: Db, agentId: string): Promise<RoomRow | null> {
  const [room] = await tx.select().from(rooms).where(eq(rooms.agentId, agentId)).for("update");
  return room ?? null;
}

/**
 * Updates the columns of the Room that follow from its settings and entries: its next work (`due_at`) and its number of
 * pending entries (`pending_count`). Call it in each transaction that changes one of them; `now` is in milliseconds
 * since the epoch. Does nothing without a Room.
 */
export async function settleDueAt(tx: Db, agentId: string, now: number): Promise<void> {
  // The entries are read by a later statement, which sees what was committed before the lock.
  if (!(await lockRoom(tx, agentId))) return;
  const at = (ms: number) => sql`${new Date(ms).toISOString()}::timestamptz`;
  const { status, notBefore } = eventBacklog;
  const pickUp = sql`case when ${status} = 'pending' then coalesce(${notBefore}, ${at(now)}) else ${at(now + lostAfterMs)} end`;
  const open = tx
    .select({
      pending: sql<number>`(count(*) filter (where ${status} = 'pending'))::int`.as("pending"),
      due: sql`min(${pickUp})`.as("due"),
    })
    .from(eventBacklog)
    .where(and(eq(eventBacklog.agentId, agentId), inArray(status, ["pending", "processing"])))
    .as("open");
  const dueAt = sql`least(${open.due}, ${proactiveTurn})`;
  await tx
    .update(rooms)
    .set({ pendingCount: sql`${open.pending}`, dueAt })
    .from(open)
    .where(eq(rooms.agentId, agentId));
}

/** When the Room takes its next turn without events; null for never. A blank prompt is stored as an empty one. */
const proactiveTurn = sql`case when ${rooms.evalIntervalMinutes} > 0 and ${rooms.prompt} <> ''
  then coalesce(${rooms.lastEvaluatedAt}, ${rooms.createdAt}) + ${rooms.evalIntervalMinutes} * interval '1 minute' end`;
