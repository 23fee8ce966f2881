import { and, eq, sql } from "drizzle-orm";
import type { Ctx, Services } from "../../context/ctx.ts";
import { subjectKey } from "../../core/channels/subjects.ts";
import type { Db } from "../../db/client.ts";
import { assign } from "../../db/fragments.ts";
import { conversations, messages, streamChunks, taskRuns, toolCalls, turns } from "../../db/schema.ts";
import { endTasksOf } from "../agents/index.ts";
import { deleteFilesOf } from "../files/index.ts";
import type { ConversationRow } from "./find.ts";

interface ConversationRemoval {
  conversation: Pick<ConversationRow["conversation"], "id" | "agentId" | "organizationId" | "ref" | "source">;
  /** The agent's slug. */
  slug: string;
  /** Why the person's tasks end, for the audit log. */
  reason: string;
  by: Pick<Ctx, "actor" | "request">;
}

/**
 * Deletes a conversation with its messages, state and files, and the copy of its reply in a task run. Its running and
 * queued turns are stopped and not stored. The transaction holds the locks of the turns (`lockTurns`), then of the
 * conversation. Call `activity.forget` after the commit.
 */
export async function removeConversation(
  tx: Db,
  services: Pick<Services, "cipher" | "clock">,
  { conversation: { id, agentId, organizationId, ref, source }, slug, reason, by }: ConversationRemoval,
): Promise<void> {
  await detachTurns(tx, id);
  await deleteFilesOf(tx, services, { conversationId: id });
  await tx.delete(messages).where(eq(messages.conversationId, id));
  await tx.delete(conversations).where(eq(conversations.id, id));
  // The person is known only by this conversation, whose id is the subject.
  const agent = { id: agentId, slug, organizationId };
  if (source === "user") await endTasksOf(tx, subjectKey("conversation", ref), { agent, reason, by });
  if (source !== "scheduled") return;
  const ofRun = and(eq(taskRuns.agentId, agentId), eq(taskRuns.conversationRef, ref));
  await tx.update(taskRuns).set({ output: null }).where(ofRun);
}

/** Locks the conversation's turns in the order of lease renewals. */
export async function lockTurns(tx: Db, conversationId: string): Promise<void> {
  const own = eq(turns.conversationId, conversationId);
  await tx.select({ id: turns.id }).from(turns).where(own).orderBy(turns.id).for("no key update");
}

/**
 * Removes the conversation and the content from its turns, so that a running turn's end only closes its row. The rows
 * stay for statistics and budgets.
 */
async function detachTurns(tx: Db, conversationId: string): Promise<void> {
  const detached = assign(turns, {
    conversationId: null,
    suspended: null,
    debug: null,
    status: sql`case when ${turns.status} = 'approval' then 'done' else ${turns.status} end`,
    stopRequested: sql`${turns.stopRequested} or ${turns.status} in ('queued', 'running')`,
  });
  const emptied = assign(toolCalls, {
    args: null,
    reason: null,
    status: sql`case when ${toolCalls.status} = 'pending' then 'expired' else ${toolCalls.status} end`,
  });
  await tx.execute(sql`
    with own as (
      -- Includes the turns that came before the conversation was locked.
      select ${turns.id} from ${turns} where ${turns.conversationId} = ${conversationId}
      order by ${turns.id} for no key update
    ), detached as (
      update ${turns} set ${detached} from own where ${turns.id} = own.id returning ${turns.id}
    ), forgotten as (
      -- Other replicas follow the turns by these rows.
      delete from ${streamChunks} using own where ${streamChunks.turnId} = own.id
    )
    update ${toolCalls} set ${emptied} from detached
    where ${toolCalls.turnId} = detached.id and (${toolCalls.args} is not null or ${toolCalls.reason} is not null)`);
}
