import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { hasFastModel } from "../../db/agent-providers.ts";
import { batched } from "../../db/batched.ts";
import { fields, jsonObject, type RowOf } from "../../db/fragments.ts";
import { agents, conversations, messages, turns } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { summarizedMessages } from "./noted.ts";

interface Subject {
  /** The public id of the conversation. */
  conversationRef: string;
  slug: string;
  revision: number;
  titled: boolean;
  summary: string | null;
  messages: number;
  /** The number of messages at the last summary. */
  summarized: number;
  /**
   * Whether to call the fast model: the agent has one, its memory is on, a person wrote, and the last reply is not the
   * demo model's.
   */
  ask: boolean;
  /** The newest messages that have a text, oldest first; empty for an agent that calls no model. */
  newest: readonly TextMessage[];
}

interface TextMessage {
  role: "user" | "assistant";
  content: string;
}

/** The statements of jobs that describe conversations. */
interface DescriptionStatements {
  /** Undefined for a deleted conversation. */
  subjectOf(conversationId: string): Promise<Subject | undefined>;
  /** The beginning of the user's first message; empty without one. */
  firstOf(conversationId: string): Promise<string>;
}

export function descriptionStatements(services: Pick<Services, "database" | "clock">): DescriptionStatements {
  const { database } = services;
  return {
    subjectOf: batched(services, async (ids: readonly string[]) => {
      const rows = await readSubjects.run(database, { ids });
      const found = new Map(rows.map(({ id, ...subject }) => [id, subject]));
      return ids.map((id) => found.get(id));
    }),
    firstOf: batched(services, async (ids: readonly string[]) => {
      const rows = await readFirst.run(database, { ids });
      const found = new Map(rows.map(({ id, content }) => [id, content]));
      return ids.map((id) => found.get(id) ?? "");
    }),
  };
}

const { source, channel } = conversations;

/** How much of a message the model reads, in characters, and how many messages. */
const [longestMessage, mostMessages] = [2_000, 30];

const readSubjects = statement({ ids: "uuid[]" }, ({ ids }) => {
  const asks = sql`${hasFastModel} and ${agents.memoryEnabled}`;
  const lastProvider = sql`
    select ${turns.provider} from ${turns}
    where ${turns.conversationId} = ${conversations.id} and ${turns.status} = 'done' order by ${turns.ticket} desc limit 1`;
  const { role, content, seq, conversationId } = messages;
  const newest = sql`
    select ${role}, left(${content}, ${longestMessage}) as content, ${seq} from ${messages}
    where ${conversationId} = ${conversations.id} and ${content} <> '' order by ${seq} desc limit ${mostMessages}`;
  const said = jsonObject({ role: sql`said.role`, content: sql`said.content` });
  const row = fields({
    id: conversations.id,
    conversationRef: conversations.ref,
    slug: agents.slug,
    revision: agents.revision,
    titled: sql<boolean>`${conversations.title} is not null`,
    summary: conversations.summary,
    messages: conversations.messageCount,
    summarized: summarizedMessages,
    ask: sql<boolean>`${asks} and ${source} = 'user' and ${channel} <> 'agent' and coalesce((${lastProvider}), '') <> 'demo'`,
    newest: sql<TextMessage[]>`case when ${asks}
      then (select coalesce(json_agg(${said} order by said.seq), '[]') from (${newest}) said) else '[]' end`,
  });
  return sql<RowOf<typeof row>>`
    select ${row} from ${conversations} join ${agents} on ${agents.id} = ${conversations.agentId}
    where ${conversations.id} = any(${ids})`;
});

const readFirst = statement({ ids: "uuid[]" }, ({ ids }) => {
  const { role, content, seq, conversationId } = messages;
  return sql<{ id: string; content: string }>`
    select asked.id, said.content from unnest(${ids}) as asked(id) cross join lateral (
      select left(${content}, 1000) as content from ${messages}
      where ${conversationId} = asked.id and ${role} = 'user' order by ${seq} limit 1
    ) said`;
});
