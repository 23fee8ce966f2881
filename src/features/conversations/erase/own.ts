import { eq, or, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { conversations, memories } from "../../../db/schema.ts";
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
    const refs = await unlessDeadlocked(() =>
      services.database.transaction(async (tx) => {
        const removed: (string | null)[] = [];
        for (const id of ids) removed.push(await eraseWhole(tx, services, person, agent, id));
        return removed;
      }),
    );
    for (const ref of refs) if (ref !== null) services.activity.forget({ agentId: agent.id, ref });
  }
}

/** Deletes a conversation, and what the agent learned from it. Returns its ref; null for one under legal hold. */
export async function eraseWhole(
  tx: Db,
  services: Services,
  person: ErasedPerson,
  { slug }: ErasedAgent,
  id: string,
): Promise<string | null> {
  // Locks the turns, then their conversation, as the statement that records a turn does.
  await lockTurns(tx, id);
  const [conversation] = await tx.select().from(conversations).where(eq(conversations.id, id)).for("update");
  if (conversation?.legalHold) person.held.add(id);
  if (!conversation || conversation.legalHold) return null;
  await tx.delete(memories).where(eq(memories.sourceConversationId, id));
  await removeConversation(tx, services, { conversation, slug, reason: "erasure", by: person.by });
  return conversation.ref;
}
