import { eq, type SQL, sql } from "drizzle-orm";
import { isBefore } from "../../db/fragments.ts";
import { isAtWork, isNotHeld } from "../../db/held.ts";
import { agents, conversations, hookExecutions, outbox, scheduledTasks, turns, usageRollups } from "../../db/schema.ts";
import type { AgeLimit, RetainedRows } from "../../jobs/retained-rows.ts";
import { lockTurns, removeConversation } from "./remove.ts";

const ended = "retention of conversations";

/** Whether a message of the conversation is not sent yet. */
const isUnsent = sql`(
  select 1 from ${outbox}
  where ${outbox.conversationId} = ${conversations.id} and ${outbox.status} in ('pending', 'sending') limit 1
) is not null`;

const isFollowedUp = sql`num_nulls(${conversations.titleDueAt}, ${conversations.followUpDueAt}) = 2`;

/**
 * Whether no task of the conversation's person is to come: the person is known only by the conversation, so the tasks
 * would be deleted with it. The agent's tasks are read once.
 */
const hasNoTask = (agentId: string): SQL => sql`'conversation:' || ${conversations.ref} not in (
  select ${scheduledTasks.subject} from ${scheduledTasks}
  where ${scheduledTasks.agentId} = ${agentId} and ${scheduledTasks.enabled} and ${scheduledTasks.nextRunAt} is not null)`;

/** Conversations without open work. They age from their last message. */
const retainedConversations: RetainedRows = {
  subject: "conversations",
  table: conversations,
  along: conversations.id,
  isOld: ({ agentId, before }) => sql`${isBefore(conversations.updatedAt, before)} and not ${conversations.legalHold}
    and not ${isAtWork} and ${isFollowedUp} and not ${isUnsent} and ${hasNoTask(agentId)}`,
  // Few, since each is deleted by several statements, and its next message waits meanwhile.
  batchSize: 20,
  async remove(tx, services, { ids, by, ...limit }) {
    const removed: { agentId: string; ref: string }[] = [];
    for (const id of ids) {
      // Locks the turns, then their conversation, as the statement that records a turn does.
      await lockTurns(tx, id);
      const [found] = await tx
        .select({ conversation: conversations, slug: agents.slug })
        .from(conversations)
        .innerJoin(agents, eq(agents.id, conversations.agentId))
        .where(sql`${conversations.id} = ${id} and ${retainedConversations.isOld(limit)}`)
        .for("update", { of: conversations });
      if (!found) continue;
      await removeConversation(tx, services, { ...found, by, reason: ended });
      removed.push({ agentId: found.conversation.agentId, ref: found.conversation.ref });
    }
    const committed = () => {
      for (const gone of removed) services.activity.forget(gone);
    };
    return { rows: removed.length, committed };
  },
};

const retainedHooks: RetainedRows = {
  subject: "hook_executions",
  table: hookExecutions,
  along: conversations.id,
  parentId: hookExecutions.conversationId,
  isOld: ({ before }) =>
    sql`${isBefore(hookExecutions.createdAt, before)} and ${isNotHeld("id", hookExecutions.conversationId)}`,
};

/**
 * Finished turns with their tool calls. Those that are not in the sums of the analytics yet stay, and so do those of the
 * current month, whose tokens a new budget counts.
 */
const retainedTurns: RetainedRows = {
  subject: "turns",
  table: turns,
  along: turns.createdAt,
  isOld: ({ before, now }: AgeLimit) => sql`${turns.status} not in ('queued', 'running', 'approval')
    and ${isBefore(turns.createdAt, before)} and ${isBefore(turns.createdAt, monthOf(now))}
    and coalesce(${turns.finishedAt}, ${turns.createdAt}) < (select ${usageRollups.until} from ${usageRollups})
    and ${isNotHeld("id", turns.conversationId)}`,
};

/** The begin of the month, in UTC. */
const monthOf = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));

export const retained = [retainedConversations, retainedHooks, retainedTurns];
