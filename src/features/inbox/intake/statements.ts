import { type Column, type SQL, sql } from "drizzle-orm";
import type { MessengerName } from "../../../core/channels/messengers.ts";
import type { SubjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Db } from "../../../db/client.ts";
import { assign, column, excluded, fields, insertInto, jsonRows, type RowOf } from "../../../db/fragments.ts";
import { agents, channels, conversations, inbox, jobs, optOuts } from "../../../db/schema.ts";
import { debounceWaiting, type NewJob } from "../../../jobs/enqueue.ts";

// A message is stored by two statements, since its number is known only after its conversation is locked.

/** The conversation of a channel's messages. */
export interface ChannelConversation {
  agentId: string;
  channel: MessengerName;
  channelId: string;
  ref: string;
  subject: SubjectKey;
}

const keywords = (list: Column) => sql<string[]>`to_jsonb(${list})`;

const agentFields = fields({
  organizationId: agents.organizationId,
  debounceMs: agents.debounceMs,
  optoutEnabled: agents.optoutEnabled,
  optoutStopKeywords: keywords(agents.optoutStopKeywords),
  optoutResumeKeywords: keywords(agents.optoutResumeKeywords),
  optoutClosingMessage: agents.optoutClosingMessage,
  optoutResumeMessage: agents.optoutResumeMessage,
  hasOptOuts: sql<boolean>`exists (
    select 1 from ${optOuts} where ${optOuts.agentId} = ${agents.id} and ${optOuts.channel} = ${channels.type})`,
});

/** The current data of the agent that gets messages. */
export type Receiver = RowOf<typeof agentFields>;

interface Locked {
  id: string;
  lastInboxSeq: number;
  receiver: Receiver;
}

/**
 * Creates or locks a conversation, so that its messages are stored one transaction after the other. Null when the agent
 * or its channel is off or deleted.
 */
export async function lockConversation(
  tx: Db,
  { agentId, channel, ...place }: ChannelConversation,
): Promise<Locked | null> {
  const { id, ref, lastInboxSeq } = conversations;
  // The first writer becomes the conversation's subject; until then only the agent has written there.
  const subject = sql`case when ${lastInboxSeq} = 0 then ${excluded(conversations.subject)} else ${conversations.subject} end`;
  const isOn = sql`${agents.id} = ${agentId} and ${agents.active} and ${channels.type} = ${channel} and ${channels.enabled}`;
  const row = { ...place, id: newId(), agentId, channel, organizationId: sql`receiver."organizationId"` };
  const [found] = await tx.execute<Receiver & { id: string; lastInboxSeq: number }>(sql`
    with receiver as materialized (
      select ${agentFields} from ${agents} join ${channels} on ${channels.agentId} = ${agents.id} where ${isOn}
    ), conversation as (
      ${insertInto(conversations, row)} from receiver
      on conflict (${column(ref)}) do update set ${assign(conversations, { lastInboxSeq, subject })}
        where ${conversations.agentId} = ${excluded(conversations.agentId)}
      returning ${fields({ id, lastInboxSeq })}
    )
    select * from receiver, conversation`);
  if (!found) return null;
  const { id: conversationId, lastInboxSeq: last, ...receiver } = found;
  return { id: conversationId, lastInboxSeq: last, receiver };
}

const messageShape = {
  id: inbox.id,
  providerId: inbox.providerId,
  seq: inbox.seq,
  sender: inbox.sender,
  payload: inbox.payload,
} as const;

interface NewMessages {
  agentId: string;
  organizationId: string;
  channel: MessengerName;
  conversationId: string;
  messages: readonly { id: string; providerId: string; seq: number; sender: string; payload: unknown }[];
  /** The job that answers the messages. */
  work: NewJob;
}

interface New {
  /** The new messages' ids. */
  ids: Set<string>;
  /** When the new messages are answered; null when there are none. */
  answerAt: Date | null;
}

/** Stores new messages and, if there are any, the job that answers them. */
export async function storeNew(tx: Db, { messages, work, conversationId, ...of }: NewMessages): Promise<New> {
  const { agentId, channel, organizationId } = of;
  const { table, row } = jsonRows(sql`${storableJson(messages)}::jsonb`, "said", messageShape);
  const lastInboxSeq = Math.max(...messages.map(({ seq }) => seq));
  const isNew = sql`exists (select 1 from stored)`;
  const { kind, key, payload, runAt } = work;
  const job = {
    id: newId(),
    kind,
    key,
    organizationId,
    payload: sql`${storableJson(payload)}::jsonb`,
    runAt: sql`${runAt.toISOString()}::timestamptz`,
  };
  const target: SQL = sql`(${column(inbox.agentId)}, ${column(inbox.channel)}, ${column(inbox.providerId)})`;
  const stored = await tx.execute<{ id: string; runAt: string }>(sql`
    with stored as (
      ${insertInto(inbox, { ...row, agentId: sql`${agentId}::uuid`, channel, conversationId: sql`${conversationId}::uuid` })}
      from ${table} on conflict ${target} do nothing returning ${fields({ id: inbox.id })}
    ), counted as (
      update ${conversations} set ${assign(conversations, { lastInboxSeq })}
      where ${conversations.id} = ${conversationId} and ${isNew}
    ), arranged as (
      ${insertInto(jobs, job)} where ${isNew} ${debounceWaiting} returning ${fields({ runAt: jobs.runAt })}
    )
    select id, ${sql.identifier("runAt")} from stored, arranged`);
  const [first] = stored;
  return { ids: new Set([...stored].map(({ id }) => id)), answerAt: first ? new Date(first.runAt) : null };
}
