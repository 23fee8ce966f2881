import { and, eq, inArray } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { hasId } from "../../../db/fragments.ts";
import { eventBacklog } from "../../../db/schema.ts";
import { writeAgent } from "../../agents/index.ts";
import { mostPending } from "./add.ts";
import { toEntry } from "./read.ts";
import type { BacklogEntry, BacklogEntryChange } from "./schema.ts";
import { lockRoom, type RoomRow } from "./settle.ts";
import { type BacklogRow, type BacklogStatus, changeEntries, type EntryChange } from "./status.ts";

/** An operator's changes of an entry, with the statuses from which each is allowed. */
const changes: Record<BacklogEntryChange["status"], { action: string; from: BacklogStatus[]; to: EntryChange }> = {
  discarded: { action: "agent.room.entry.discard", from: ["pending", "failed"], to: { status: "discarded" } },
  pending: {
    action: "agent.room.entry.retry",
    from: ["failed", "discarded"],
    to: { status: "pending", notBefore: null, attempts: 0, error: null },
  },
};

/**
 * Discards an entry, or handles it again. Throws the 404 of agent and entry; 409 for another status, and when the Room
 * of an entry to handle is missing or its backlog is full.
 */
export async function changeEntry(
  ctx: Ctx,
  slug: string,
  id: string,
  { status }: BacklogEntryChange,
): Promise<BacklogEntry> {
  const { action, from, to } = changes[status];
  const change = { action, agentUnchanged: true, summary: { entryId: id } };
  return writeAgent(ctx, slug, change, async (tx, { id: agentId }) => {
    const room = await lockRoom(tx, agentId);
    const found = await findEntry(tx, agentId, id);
    if (status === "pending") requirePlace(room);
    const isSo = and(eq(eventBacklog.id, found.id), inArray(eventBacklog.status, from));
    const [changed] = await changeEntries(tx, { agentId, now: ctx.clock.now() }, isSo, to);
    if (!changed) throw refusal(found.status, from);
    return toEntry(changed);
  });
}

/** Throws the 409 for a Room that can't take another entry. The caller has locked the Room. */
function requirePlace(room: RoomRow | null): void {
  if (!room) throw new EngineError("conflict", "The agent has no Room: set it up first");
  if (room.pendingCount < mostPending) return;
  throw new EngineError(
    "conflict",
    `The backlog holds ${mostPending} pending entries: discard one, or try again later`,
  );
}

async function findEntry(tx: Db, agentId: string, id: string): Promise<BacklogRow> {
  const [row] = await tx
    .select()
    .from(eventBacklog)
    .where(and(hasId(eventBacklog.id, id), eq(eventBacklog.agentId, agentId)));
  if (!row) throw notFound("Entry");
  return row;
}

const refusal = (status: BacklogStatus, from: readonly BacklogStatus[]) =>
  new EngineError("conflict", `Only an entry that is ${from.join(" or ")} can become that: this one is ${status}`);
