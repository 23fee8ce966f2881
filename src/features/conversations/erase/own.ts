import { eq, or, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ActingConversation } from "../../../core/activity/activity.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { agents, conversations, memories, turns } from "../../../db/schema.ts";
import {
  batchesOf,
  type ErasedAgent,
  type ErasedPerson,
  isSubject,
  messengerOf,
  type PersonId,
} from "../../../jobs/erased-rows.ts";
import { lockTurns, removeConversation } from "../remove.ts";

/** Whether a conversation is the person's own, and no group's. */
export function isOwn(person: PersonId, agent: Pick<ErasedAgent, "slug">): SQL {
  const { channel, channelId, subject } = conversations;
  const isChat = sql`(${channel} = ${person.channel} and split_part(${channelId}, ':', 1) = ${person.id})`;
  const ofPerson = isSubject(subject, person, agent);
  return messengerOf(person) ? sql`${or(ofPerson, isChat)}` : ofPerson;
}

/** The most conversations of one transaction. */
const size = 20;

/** Deletes the person's conversations with everything of them, and what the agent learned from them. */
export async function eraseOwn(services: Services, person: ErasedPerson, agent: ErasedAgent): Promise<void> {
  const wanted = {
    table: conversations,
    along: conversations.id,
    agentId: agent.id,
    where: isOwn(person, agent),
    size,
  };
  for await (const ids of batchesOf(services.database.db, person, wanted)) {
    const removed = await unlessDeadlocked(() =>
      services.database.transaction(async (tx) => {
        const all: ActingConversation[] = [];
        for (const id of ids) all.push(...(await eraseWhole(tx, services, person, id)));
        return all;
      }),
    );
    for (const conversation of removed) services.activity.forget(conversation);
  }
}

/** Deletes a conversation, and what the agent learned from it. Returns it; nothing for one under legal hold. */
export async function eraseWhole(
  tx: Db,
  services: Services,
  person: ErasedPerson,
  id: string,
): Promise<ActingConversation[]> {
  // Locks the turns, then their conversation, as the statement that records a turn does.
  await lockTurns(tx, id);
  const [found] = await tx
    .select({ conversation: conversations, slug: agents.slug })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(eq(conversations.id, id))
    .for("update", { of: conversations });
  if (found?.conversation.legalHold) person.held.add(id);
  if (!found || found.conversation.legalHold) return [];
  await tx.delete(memories).where(eq(memories.sourceConversationId, id));
  await tx.update(turns).set({ subject: "" }).where(eq(turns.conversationId, id));
  await removeConversation(tx, services, { ...found, reason: "erasure", by: person.by });
  const { agentId, ref } = found.conversation;
  return [{ agentId, ref }];
}
