import { and, desc, eq, notExists, or, sql } from "drizzle-orm";
import type { DeletedMessage, Incoming, IncomingFile } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { conversations, inbox, jobs } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import { answerJob } from "../answer/work.ts";
import { readPayload } from "./payload.ts";

type Version = Pick<Incoming, "text" | "files">;

/**
 * Removes edits that change neither text nor files. Telegram reports a reaction as an edit, and a message must not be
 * answered again for that (decisions §8). The conversation is locked.
 */
export async function withoutSameEdits(
  tx: Db,
  conversationId: string,
  messages: readonly Incoming[],
): Promise<Incoming[]> {
  /** The newest versions of this group's messages, by the provider id of the original. */
  const newest = new Map<string, Version>();
  const changed: Incoming[] = [];
  for (const message of messages) {
    const original = message.edits ?? message.providerId;
    if (message.edits !== null) {
      const before = newest.get(original) ?? (await storedVersion(tx, conversationId, original));
      if (before && isSame(before, message)) continue;
    }
    newest.set(original, message);
    changed.push(message);
  }
  return changed;
}

/** The newest stored version of a message; null for none. */
async function storedVersion(tx: Db, conversationId: string, original: string): Promise<Version | null> {
  const isVersion = or(eq(inbox.providerId, original), sql`${inbox.payload} ->> 'edits' = ${original}`);
  const [row] = await tx
    .select({ payload: inbox.payload })
    .from(inbox)
    .where(and(eq(inbox.conversationId, conversationId), isVersion))
    .orderBy(desc(inbox.seq))
    .limit(1);
  return row ? readPayload(row.payload) : null;
}

function isSame(one: Version, other: Version): boolean {
  const [before, now] = [one, other].map(({ files }) => files.filter(({ isQuoted }) => !isQuoted));
  if (one.text !== other.text || before?.length !== now?.length) return false;
  return before?.every((file, index) => isSameFile(file, now?.[index])) ?? true;
}

/** Rows of earlier releases have no permanent file ids. */
function isSameFile(one: IncomingFile, other: IncomingFile | undefined): boolean {
  if (one.lastingId !== undefined && other?.lastingId !== undefined) return one.lastingId === other.lastingId;
  return one.ref === other?.ref || (one.size !== null && one.size === other?.size && one.mime === other.mime);
}

/**
 * Drops a message that its person deleted, with its edits. Does not drop it while its job runs: a started turn is
 * finished (decisions §8).
 */
export async function dropDeleted(
  tx: Db,
  { agent, name }: MessengerChannel,
  { deletes, channelId }: DeletedMessage,
): Promise<void> {
  const ref = `${agent.slug}:${name}:${channelId}`;
  const [conversation] = await tx
    .select({ id: conversations.id })
    .from(conversations)
    .where(and(eq(conversations.ref, ref), eq(conversations.agentId, agent.id)))
    .for("no key update");
  if (!conversation) return;
  const isOfJob = and(eq(jobs.kind, answerJob.kind), eq(jobs.key, conversation.id), eq(jobs.status, "pending"));
  const running = tx
    .select({ found: sql`1` })
    .from(jobs)
    .where(and(isOfJob, sql`${jobs.lockedUntil} is not null`));
  const isIt = or(eq(inbox.providerId, deletes), sql`${inbox.payload} ->> 'edits' = ${deletes}`);
  await tx
    .update(inbox)
    .set({ status: "dropped" })
    .where(and(eq(inbox.conversationId, conversation.id), eq(inbox.status, "pending"), isIt, notExists(running)));
}
