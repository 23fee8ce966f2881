import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import { hasFastModel } from "../../../db/agent-providers.ts";
import { batched } from "../../../db/batched.ts";
import { fields, type RowOf } from "../../../db/fragments.ts";
import { actingAgent, agents, conversations, messages, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { extractedSeq } from "../../conversations/index.ts";
import { isRemembered } from "../recall.ts";
import { batchMessages, type Unread } from "../rules.ts";
import { longestMessage, type PromptMessage } from "./prompt.ts";

/** A conversation to learn from, and its last message. */
export interface Source {
  conversationId: string;
  /** The public id of the conversation. */
  conversationRef: string;
  agent: ActingAgent & { revision: number; memoryEnabled: boolean };
  /** `seq` of the last message. */
  lastSeq: number;
  /** The next messages to learn from: one more than a batch, to notice that some are left. Empty while learning is off. */
  unread: readonly Unread[];
  /** Whether there is a memory about one of the messages' end users, or about no particular one. */
  known: boolean;
}

/** A message's position, and its end user. */
interface MessagePosition extends Pick<Unread, "subject" | "seq"> {
  conversationId: string;
}

/** The statements of jobs that learn. */
interface UnreadStatements {
  /** Undefined for a deleted conversation. */
  sourceOf(conversationId: string): Promise<Source | undefined>;
  /** The last messages with the same end user before a message, oldest first. */
  earlierThan(message: MessagePosition): Promise<readonly PromptMessage[]>;
}

export function unreadStatements(services: Pick<Services, "database" | "clock">): UnreadStatements {
  const { database } = services;
  return {
    sourceOf: batched(services, async (ids: readonly string[]) => {
      const rows = await readSources.run(database, { ids });
      const found = new Map(
        rows.map(({ conversationId, conversationRef, lastSeq, unread, known, ...agent }) => {
          return [conversationId, { conversationId, conversationRef, agent, lastSeq, unread, known }];
        }),
      );
      return ids.map((id) => found.get(id));
    }),
    earlierThan: batched(services, async (places: readonly MessagePosition[]) => {
      const rows = await readEarlier.run(database, {
        ids: places.map(({ conversationId }) => conversationId),
        subjects: places.map(({ subject }) => subject),
        seqs: places.map(({ seq }) => String(seq)),
      });
      const found = Map.groupBy(rows, ({ nth }) => Number(nth));
      return places.map((_, index) =>
        (found.get(index + 1) ?? []).map(({ role, content }) => ({ role, content, earlier: true })),
      );
    }),
  };
}

const content = sql<string>`left(${messages.content}, ${longestMessage})`;

/** Messages of known end users to which a real model replied, not the demo. */
const learnable = sql`${turns.source} = 'user' and ${turns.subject} <> '' and ${turns.provider} is distinct from 'demo'`;

/**
 * Finds the turn of each message by its key. For a plain join, PostgreSQL might keep a plan from when there were few
 * turns, and scan all turns for each conversation.
 */
const joinTurn = (condition: SQL) => sql`
  cross join lateral (
    select ${turns.subject} from ${turns} where ${turns.id} = ${messages.turnId} and ${condition} offset 0
  ) ${turns}`;

const readSources = statement({ ids: "uuid[]" }, ({ ids }) => {
  const learns = sql`${agents.memoryEnabled} and ${hasFastModel} and ${conversations.channel} <> 'agent'`;
  const { seq, role } = messages;
  const unread = sql`
    select ${fields({ seq, role, content, subject: turns.subject })} from ${messages} ${joinTurn(learnable)}
    where ${messages.conversationId} = ${conversations.id} and ${seq} > ${extractedSeq}
    order by ${seq} limit ${batchMessages + 1}`;
  const { revision, memoryEnabled } = agents;
  const row = fields({
    conversationId: conversations.id,
    conversationRef: conversations.ref,
    lastSeq: conversations.lastSeq,
    ...actingAgent,
    revision,
    memoryEnabled,
    unread: sql<Unread[]>`coalesce(said.unread, '[]')`,
    known: sql<boolean>`exists (
      select from unnest(array_append(said.subjects, '')) as known(subject)
      where ${isRemembered({ agentId: sql`${agents.id}`, subject: sql`known.subject` })})`,
  });
  return sql<RowOf<typeof row>>`
    select ${row} from ${conversations} join ${agents} on ${agents.id} = ${conversations.agentId}
    left join lateral (
      select jsonb_agg(to_jsonb(u) order by u.seq) as unread, array_agg(distinct u.subject) as subjects from (${unread}) u
    ) said on ${learns}
    where ${conversations.id} = any(${ids})`;
});

/** How many earlier messages a prompt shows, and among how many they are searched. They explain a bare "yes". */
const [shown, among] = [4, 100];

const readEarlier = statement(
  { ids: "uuid[]", subjects: "text[]", seqs: "text[]" },
  ({ ids, subjects, seqs }) => sql<{ nth: string; role: PromptMessage["role"]; content: string }>`
    select asked.nth, said.role, said.content
    from unnest(${ids}, ${subjects}, ${seqs}::int[]) with ordinality as asked(id, subject, seq, nth) cross join lateral (
      select ${messages.role} as role, ${content} as content, ${messages.seq} as seq
      from ${messages} ${joinTurn(sql`${turns.subject} = asked.subject and ${turns.source} = 'user'`)}
      where ${messages.conversationId} = asked.id and ${messages.seq} between asked.seq - ${among} and asked.seq - 1
      order by ${messages.seq} desc limit ${shown}
    ) said order by asked.nth, said.seq`,
);
