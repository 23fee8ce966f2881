import { and, eq, type SQL } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { type backlogStatuses, eventBacklog } from "../../../db/schema.ts";
import { lockRoom, settleDueAt } from "./settle.ts";

export type BacklogRow = typeof eventBacklog.$inferSelect;
export type BacklogStatus = (typeof backlogStatuses)[number];

/** A change of entries. Absent fields keep their values. */
export type EntryChange = (
  | { status: "pending" /** When the entry may be taken; null for at once. */; notBefore: Date | null }
  | { status: "processing"; claim: string }
  | { status: "completed" /** The turn that completes them. */; claim?: string }
  | { status: "failed" | "discarded" }
) & {
  attempts?: number | SQL;
  reactNotes?: string | null;
  /** The error, without secrets. */
  error?: string | null;
};

/**
 * Changes the status of an agent's entries. Statuses are changed only here, since the Room's counter and due time
 * depend on them. Locks the Room first. Returns the changed rows in no order; `now` is in milliseconds since the epoch.
 */
export async function changeEntries(
  tx: Db,
  { agentId, now }: { agentId: string; now: number },
  where: SQL | undefined,
  change: EntryChange,
): Promise<BacklogRow[]> {
  await lockRoom(tx, agentId);
  const changed = await tx
    .update(eventBacklog)
    .set({ ...change, ...stateOf(change, new Date(now)) })
    .where(and(eq(eventBacklog.agentId, agentId), where))
    .returning();
  if (changed.length > 0) await settleDueAt(tx, agentId, now);
  return changed;
}

/** The columns that only some statuses use. */
function stateOf(change: EntryChange, now: Date): Pick<BacklogRow, "claim" | "notBefore" | "completedAt"> {
  const open = { claim: null, notBefore: null, completedAt: null };
  if (change.status === "pending") return { ...open, notBefore: change.notBefore };
  if (change.status === "processing") return { ...open, claim: change.claim };
  return { ...open, claim: (change.status === "completed" && change.claim) || null, completedAt: now };
}
