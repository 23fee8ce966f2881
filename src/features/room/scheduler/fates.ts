import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { eventBacklog } from "../../../db/schema.ts";
import type { AttemptEnd } from "../../turns/index.ts";
import { type BacklogRow, changeEntries, type EntryChange } from "../backlog/status.ts";

/** The most attempts of an entry before it fails (decisions §9). */
export const mostAttempts = 3;

/** The longest wait of an entry for a person's reply or decision, in milliseconds. */
export const patienceMs = 24 * 60 * 60_000;

/** The pauses of an entry after its first and second attempt, in milliseconds. */
const rests = [60_000, 5 * 60_000];

/** The pause of entries while their agent can't run turns, in milliseconds. */
const closedMs = 60 * 60_000;

/** How a Room's turn ended; `lost`: its process died. */
export type RoomEnd = AttemptEnd | { kind: "lost"; reason: string };

/** An entry after a turn that did not complete it. */
export type EntryState = Pick<BacklogRow, "attempts" | "notBefore">;

/**
 * How an entry changes after a turn. An entry about which the agent asked a person waits for the reply until its
 * `notBefore`; a `notBefore` in the past means that the person replied. `now` is in milliseconds since the epoch.
 */
export function fateOf({ attempts, notBefore }: EntryState, end: RoomEnd, now: number): EntryChange {
  const uncounted = { status: "pending", attempts: Math.max(0, attempts - 1) } as const;
  if (notBefore !== null) {
    return { ...uncounted, notBefore: notBefore.getTime() > now ? notBefore : null, error: null };
  }
  switch (end.kind) {
    case "done":
      return tried(attempts, "The agent did not mark it as completed", restOf(attempts), now);
    case "approval":
      return { ...uncounted, notBefore: new Date(now + patienceMs), error: null };
    case "defer":
      return { ...uncounted, notBefore: null, error: end.reason };
    case "lost":
      return tried(attempts, end.reason, 0, now);
    case "retry":
      if (!end.alone) return tried(attempts, end.reason, Math.max(end.ms, restOf(attempts)), now);
      return {
        status: "pending",
        notBefore: null,
        attempts: Math.max(attempts, mostAttempts - 1),
        error: end.reason,
      };
    case "give-up":
      if (end.why === "stopped") return tried(attempts, end.reason, restOf(attempts), now);
      if (end.why !== "closed" && end.why !== "off") return { status: "failed", error: end.reason };
      return { ...uncounted, notBefore: new Date(now + closedMs), error: end.reason };
  }
}

const restOf = (attempts: number) => rests[Math.min(attempts, rests.length) - 1] ?? 0;

function tried(attempts: number, error: string, restMs: number, now: number): EntryChange {
  if (attempts >= mostAttempts) return { status: "failed", error };
  return { status: "pending", notBefore: restMs > 0 ? new Date(now + restMs) : null, error };
}

/**
 * Ends the work on an agent's `processing` entries, of one claim or of all, in a transaction with the Room's lock.
 * Returns the ids of the entries that wait again.
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
