import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { randomHex } from "../../../core/ids.ts";
import { clip, storable } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { messages, rooms } from "../../../db/schema.ts";
import { type CallLimits, type Complete, NoAnswer } from "../../../jobs/complete.ts";
import type { RoomClaim } from "./claim.ts";
import { compactionPrompt, mostShown, type RoomMessage } from "./compaction-prompt.ts";

/** A longer history is compacted before the next turn. */
const [mostMessages, mostBytes] = [40, 64 * 1024];

/** The newest messages, which a summary does not include: at most this number, with at most these bytes. */
const [keptMessages, keptBytes] = [10, 16 * 1024];

/** The longest summary, in UTF-16 units. */
export const longestSummary = 16_000;

interface Dependencies {
  services: Services;
  complete: Complete;
}

/** A message of the Room's conversation, and its size as the model gets it. */
interface SizedMessage extends RoomMessage {
  seq: number;
  bytes: number;
}

/**
 * Summarizes the older messages of a Room with a long history; returns the claim with the Room's new state. After a
 * failure the history stays unchanged.
 */
export async function compactLongHistory(
  { services, complete }: Dependencies,
  { agent, room, conversation }: RoomClaim,
  limits: CallLimits,
): Promise<RoomClaim["room"]> {
  const { database, log } = services;
  if (!conversation || !(await isLong(database.db, conversation.id, room.compactedSeq))) return room;
  try {
    const old = olderPart(await readHistory(database.db, conversation.id, room.compactedSeq));
    const last = old.at(-1);
    if (!last) return room;
    const prompt = compactionPrompt({ summary: room.historySummary, messages: old, mark: randomHex(24) });
    const answer = await complete(agent, prompt, {
      ...limits,
      ownModel: true,
      purpose: "compact-room",
      conversationRef: room.conversationRef,
    });
    if (answer.trim() === "") throw new NoAnswer("The summary is blank");
    const compacted = await storeSummary(database.db, room, { summary: answer, seq: last.seq });
    return compacted ?? room;
  } catch (err) {
    limits.signal.throwIfAborted();
    log.warn({ agent: agent.slug, err }, "A Room's history could not be compacted");
    return room;
  }
}

const sizeOf = sql<number>`octet_length(${messages.content}) + coalesce(octet_length(${messages.modelMessages}::text), 0)`;

const isNewer = (conversationId: string, seq: number) =>
  and(eq(messages.conversationId, conversationId), gt(messages.seq, seq));

async function isLong(db: Db, conversationId: string, seq: number): Promise<boolean> {
  const newest = db
    .select({ bytes: sizeOf.as("bytes") })
    .from(messages)
    .where(isNewer(conversationId, seq))
    .orderBy(desc(messages.seq))
    .limit(mostMessages + 1)
    .as("newest");
  const [row] = await db
    .select({ count: sql<number>`count(*)::int`, bytes: sql<number>`coalesce(sum(${newest.bytes}), 0)::float8` })
    .from(newest);
  return row !== undefined && (row.count > mostMessages || row.bytes > mostBytes);
}

/**
 * The newest messages since the last summary, oldest first. Messages before those are never summarized: there are some
 * only if no model could summarize for long.
 */
async function readHistory(db: Db, conversationId: string, seq: number): Promise<SizedMessage[]> {
  const { role, content, steps } = messages;
  const newestFirst = await db
    .select({ seq: messages.seq, role, content, steps, bytes: sizeOf })
    .from(messages)
    .where(isNewer(conversationId, seq))
    .orderBy(desc(messages.seq))
    .limit(mostShown + keptMessages);
  return newestFirst.reverse();
}

/** All messages except the newest. The remaining ones begin with a message to the agent, as a history must. */
export function olderPart<M extends Pick<SizedMessage, "role" | "bytes">>(history: readonly M[]): M[] {
  let [kept, bytes] = [0, 0];
  for (const message of history.toReversed()) {
    bytes += message.bytes;
    if (kept >= keptMessages || bytes > keptBytes) break;
    kept += 1;
  }
  const stays = history.slice(history.length - kept);
  const first = stays.findIndex(({ role }) => role === "user");
  return history.slice(0, first < 0 ? history.length : history.length - kept + first);
}

/** Null when the history was compacted meanwhile. */
async function storeSummary(
  db: Db,
  { agentId, compactedSeq }: RoomClaim["room"],
  { summary, seq }: { summary: string; seq: number },
): Promise<RoomClaim["room"] | null> {
  const [room] = await db
    .update(rooms)
    .set({ historySummary: clip(storable(summary), longestSummary), compactedSeq: seq })
    .where(and(eq(rooms.agentId, agentId), eq(rooms.compactedSeq, compactedSeq)))
    .returning();
  return room ?? null;
}
