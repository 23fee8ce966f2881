import { and, asc, eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { agents, conversations, eventBacklog, eventDefinitions, rooms } from "../../../db/schema.ts";
import { lockRoom, type RoomRow, settleDueAt } from "../backlog/settle.ts";
import { type BacklogRow, changeEntries } from "../backlog/status.ts";
import { mostAttempts, putBack } from "./fates.ts";

/** An entry with the definition that it matched; null when that was deleted. */
interface ClaimedEntry extends BacklogRow {
  definition: typeof eventDefinitions.$inferSelect | null;
}

/** The work of one turn of a Room. */
export interface RoomClaim {
  /** Tells this claim from an earlier one whose process lost its lease. */
  claim: string;
  agent: { id: string; slug: string; organizationId: string; revision: number };
  room: RoomRow;
  /** The entries, oldest first; empty for a proactive turn. */
  entries: ClaimedEntry[];
  /** Whether ready entries are left. */
  leaves: boolean;
  /** The Room's conversation as stored; null before its first turn. */
  conversation: RoomConversation | null;
}

interface RoomConversation {
  id: string;
  lastSeq: number;
  awaiting: string | null;
  metadata: Record<string, unknown>;
}

interface WorkRequest {
  agentId: string;
  /** Whether an operator requested a turn now, even without events. */
  run: boolean;
}

/**
 * Claims an agent's due Room work; null when nothing is due. First puts back the entries of a dead process. While a
 * call in the Room's conversation waits for approval, nothing is claimed, since a next turn would refuse that call.
 */
export function claimWork({ database, clock }: Services, asked: WorkRequest): Promise<RoomClaim | null> {
  const { agentId } = asked;
  return database.transaction(async (tx) => {
    const now = clock.now();
    const room = await lockRoom(tx, agentId);
    if (!room) return null;
    const lost = "The process ended while the agent worked on it";
    await putBack(tx, { agentId, now }, { kind: "lost", reason: lost });
    const [agent] = await tx.select().from(agents).where(eq(agents.id, agentId));
    if (!agent?.active || !room.enabled) return null;
    const conversation = await readConversation(tx, room);
    if (conversation?.awaiting) return null;
    const known = await forgetDeleted(tx, room, conversation);
    const claim = newId();
    const { entries, leaves } = await takeEntries(tx, { agentId, now, claim });
    if (entries.length === 0 && !asked.run && !isProactive(room, now)) {
      await settleDueAt(tx, agentId, now);
      return null;
    }
    const { slug, organizationId, revision } = agent;
    return {
      claim,
      agent: { id: agentId, slug, organizationId, revision },
      room: known,
      entries,
      leaves,
      conversation,
    };
  });
}

async function readConversation(tx: Db, { conversationRef }: RoomRow): Promise<RoomConversation | null> {
  const { id, lastSeq, awaiting, metadata } = conversations;
  const [found] = await tx
    .select({ id, lastSeq, awaiting, metadata })
    .from(conversations)
    .where(eq(conversations.ref, conversationRef));
  return found ?? null;
}

/** Clears the Room's summary after its conversation was deleted. */
async function forgetDeleted(tx: Db, room: RoomRow, conversation: RoomConversation | null): Promise<RoomRow> {
  if ((conversation?.lastSeq ?? 0) >= room.compactedSeq) return room;
  const fresh = { historySummary: "", compactedSeq: 0 };
  await tx.update(rooms).set(fresh).where(eq(rooms.agentId, room.agentId));
  return { ...room, ...fresh };
}

interface Taking {
  agentId: string;
  now: number;
  claim: string;
}

async function takeEntries(tx: Db, { agentId, now, claim }: Taking) {
  const { id, attempts, notBefore, status, matchedAt, rawPayload } = eventBacklog;
  const isDue = or(isNull(notBefore), lte(notBefore, new Date(now)));
  const waiting = await tx
    .select({ id, attempts, bytes: sql<number>`coalesce(octet_length(${rawPayload}::text), 0)` })
    .from(eventBacklog)
    .where(and(eq(eventBacklog.agentId, agentId), eq(status, "pending"), isDue))
    .orderBy(asc(matchedAt), asc(id))
    // More than one turn takes: some entries may need an attempt of their own.
    .limit(2 * mostEntries)
    .for("update", { skipLocked: true });
  const chosen = batchOf(waiting);
  if (chosen.length === 0) return { entries: [], leaves: false };
  const change = { status: "processing", claim, attempts: sql`${attempts} + 1` } as const;
  const rows = await changeEntries(tx, { agentId, now }, and(inArray(id, chosen), eq(status, "pending")), change);
  return { entries: await withDefinitions(tx, rows), leaves: chosen.length < waiting.length };
}

async function withDefinitions(tx: Db, rows: readonly BacklogRow[]): Promise<ClaimedEntry[]> {
  const ids = rows.flatMap(({ definitionId }) => definitionId ?? []);
  const found =
    ids.length === 0 ? [] : await tx.select().from(eventDefinitions).where(inArray(eventDefinitions.id, ids));
  const definitions = new Map(found.map((definition) => [definition.id, definition]));
  return rows
    .toSorted((a, b) => a.matchedAt.getTime() - b.matchedAt.getTime() || (a.id < b.id ? -1 : 1))
    .map((row) => ({ ...row, definition: definitions.get(row.definitionId ?? "") ?? null }));
}

/** Whether a turn without events is due. */
function isProactive({ prompt, evalIntervalMinutes, lastEvaluatedAt, createdAt }: RoomRow, now: number): boolean {
  if (prompt === "" || evalIntervalMinutes === 0) return false;
  return (lastEvaluatedAt ?? createdAt).getTime() + evalIntervalMinutes * 60_000 <= now;
}

/** The most entries of a turn, and the most bytes of their JSON; a single larger entry is still taken. */
export const [mostEntries, mostBytes] = [10, 256 * 1024];

interface PendingEntry {
  id: string;
  attempts: number;
  /** The size of the payload as JSON. */
  bytes: number;
}

/**
 * Chooses the entries of the next turn from the pending ones, oldest first. In its last attempt an entry is alone, so
 * that an entry that makes every turn fail does so alone.
 */
export function batchOf(waiting: readonly PendingEntry[]): string[] {
  const isLast = ({ attempts }: PendingEntry) => attempts >= mostAttempts - 1;
  const [oldest] = waiting;
  if (!oldest) return [];
  if (isLast(oldest)) return [oldest.id];
  const taken: string[] = [];
  let bytes = 0;
  for (const entry of waiting) {
    if (isLast(entry)) continue;
    bytes += entry.bytes;
    if (taken.length >= mostEntries || (taken.length > 0 && bytes > mostBytes)) break;
    taken.push(entry.id);
  }
  return taken;
}
