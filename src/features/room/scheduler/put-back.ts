import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { eventBacklog } from "../../../db/schema.ts";
import { changeEntries } from "../backlog/status.ts";
import { fateOf, type RoomEnd } from "./fates.ts";

/**
 * Ends the work on an agent's entries that are `processing`, of one claim or of all, in a transaction that holds the lock
 * of the Room. Answers the ids of those that wait again.
 */
export async function putBack(
  tx: Db,
  { agentId, now }: { agentId: string; now: number },
  end: RoomEnd,
  claim?: string,
): Promise<string[]> {
  const isHeld = and(eq(eventBacklog.status, "processing"), claim ? eq(eventBacklog.claim, claim) : undefined);
  const { id, attempts, notBefore } = eventBacklog;
  const held = await tx
    .select({ id, attempts, notBefore })
    .from(eventBacklog)
    .where(and(eq(eventBacklog.agentId, agentId), isHeld));
  const fates = held.map((entry) => ({ id: entry.id, change: fateOf(entry, end, now) }));
  for (const alike of Map.groupBy(fates, ({ change }) => JSON.stringify(change)).values()) {
    const own: SQL = inArray(
      id,
      alike.map((fate) => fate.id),
    );
    if (alike[0]) await changeEntries(tx, { agentId, now }, own, alike[0].change);
  }
  return fates.flatMap(({ id, change }) => (change.status === "pending" ? [id] : []));
}
