import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { conversations, roomEvents, rooms } from "../../db/schema.ts";

export interface RoomRef {
  /** `room:<slug>:<ms>`, the id of a conversation. */
  ref: string;
  /** The number at its end, the conversation's `channelId`. */
  ms: number;
}

/**
 * A free id for a new Room conversation: that of a time in milliseconds since the epoch, or the next free one. Two
 * transactions may find the same id; `rooms_conversation` and `room_events_conversation` then refuse one of them.
 */
export async function freeRoomRef(tx: Db, slug: string, now: number): Promise<RoomRef> {
  for (let ms = now; ; ms += 1) {
    const ref = `room:${slug}:${ms}`;
    const taken = [
      sql`exists (select from ${rooms} where ${rooms.conversationRef} = ${ref})`,
      sql`exists (select from ${roomEvents} where ${roomEvents.conversationRef} = ${ref})`,
      sql`exists (select from ${conversations} where ${conversations.ref} = ${ref})`,
    ];
    const [row] = await tx.execute<{ taken: boolean }>(sql`select ${sql.join(taken, sql` or `)} as taken`);
    if (!row?.taken) return { ref, ms };
  }
}
