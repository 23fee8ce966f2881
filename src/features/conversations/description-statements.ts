import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { assign, fields, type RowOf } from "../../db/fragments.ts";
import { agents, conversations, messages, turns } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import type { Gathered } from "../../jobs/together.ts";
import type { Description } from "./description-prompt.ts";

export interface Subject {
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
   * Whether the fast model is asked: there is one, the agent's memory is on, a person wrote, and the demo model did not
   * answer last.
   */
  ask: boolean;
}

interface Said {
  role: "user" | "assistant";
  content: string;
}

interface Written extends Description {
  conversationId: string;
  /** The number of messages that the summary is about; null for as before. */
  summarized: number | null;
}

/** The statements of jobs that describe conversations, each for many conversations. */
export interface DescriptionStatements {
  /** Undefined for a conversation that is gone. */
  subjectOf: Gathered<string, Subject | undefined>;
  /** The newest messages with a text, the oldest of them first. */
  newestOf: Gathered<string, readonly Said[]>;
  /** The beginning of the user's first message; empty when there is none. */
  firstOf: Gathered<string, string>;
  /** Stores descriptions. A title that a person gave meanwhile stays. */
  writeDown: Gathered<Written, void>;
}

export function descriptionStatements(database: Database): DescriptionStatements {
  return {
    subjectOf: {
      async run(ids) {
        const rows = await readSubjects.run(database, { ids });
        const found = new Map(rows.map(({ id, ...subject }) => [id, subject]));
        return ids.map((id) => found.get(id));
      },
    },
    newestOf: {
      async run(ids) {
        const rows = await readNewest.run(database, { ids });
        const found = Map.groupBy(rows, ({ id }) => id);
        return ids.map((id) => (found.get(id) ?? []).map(({ role, content }) => ({ role, content })));
      },
    },
    firstOf: {
      async run(ids) {
        const rows = await readFirst.run(database, { ids });
        const found = new Map(rows.map(({ id, content }) => [id, content]));
        return ids.map((id) => found.get(id) ?? "");
      },
    },
    writeDown: {
      async run(written) {
        await writeAll.run(database, {
          ids: written.map(({ conversationId }) => conversationId),
          titles: written.map(({ title }) => title ?? ""),
          summaries: written.map(({ summary }) => summary ?? ""),
          summarized: written.map(({ summarized }) => String(summarized ?? "")),
        });
        return [];
      },
    },
  };
}

const { metadata, source, channel } = conversations;

/** The number of messages at the last summary. */
export const summarizedMessages = sql<number>`coalesce((${metadata} ->> 'summarizedMessages')::int, 0)`;

const readSubjects = statement({ ids: "uuid[]" }, ({ ids }) => {
  const lastProvider = sql`
    select ${turns.provider} from ${turns}
    where ${turns.conversationId} = ${conversations.id} and ${turns.status} = 'done' order by ${turns.ticket} desc limit 1`;
  const row = fields({
    ...{ id: conversations.id, conversationRef: conversations.ref, slug: agents.slug, revision: agents.revision },
    titled: sql<boolean>`${conversations.title} is not null`,
    ...{ summary: conversations.summary, messages: conversations.messageCount },
    summarized: summarizedMessages,
    ask: sql<boolean>`${agents.fastModel} is not null and ${agents.memoryEnabled} and ${source} = 'user'
      and ${channel} <> 'agent' and coalesce((${lastProvider}), '') <> 'demo'`,
  });
  return sql<RowOf<typeof row>>`
    select ${row} from ${conversations} join ${agents} on ${agents.id} = ${conversations.agentId}
    where ${conversations.id} = any(${ids})`;
});

/** The longest part of a message that the model reads, in characters, and the most messages. */
const [longestMessage, mostMessages] = [2_000, 30];

const readNewest = statement({ ids: "uuid[]" }, ({ ids }) => {
  const { role, content, seq, conversationId } = messages;
  return sql<Said & { id: string }>`
    select asked.id, said.role, said.content from unnest(${ids}) as asked(id) cross join lateral (
      select ${role} as role, left(${content}, ${longestMessage}) as content, ${seq} as seq from ${messages}
      where ${conversationId} = asked.id and ${content} <> '' order by ${seq} desc limit ${mostMessages}
    ) said order by asked.id, said.seq`;
});

const readFirst = statement({ ids: "uuid[]" }, ({ ids }) => {
  const { role, content, seq, conversationId } = messages;
  return sql<{ id: string; content: string }>`
    select asked.id, said.content from unnest(${ids}) as asked(id) cross join lateral (
      select left(${content}, 1000) as content from ${messages}
      where ${conversationId} = asked.id and ${role} = 'user' order by ${seq} limit 1
    ) said`;
});

const writeAll = statement(
  { ids: "uuid[]", titles: "text[]", summaries: "text[]", summarized: "text[]" },
  ({ ids, titles, summaries, summarized }) => {
    const noted = sql`jsonb_strip_nulls(jsonb_build_object('summarizedMessages', nullif(written.summarized, '')::int))`;
    return sql`
      update ${conversations} set ${assign(conversations, {
        title: sql`coalesce(${conversations.title}, nullif(written.title, ''))`,
        summary: sql`coalesce(nullif(written.summary, ''), ${conversations.summary})`,
        metadata: sql`${metadata} || ${noted}`,
      })}
      from unnest(${ids}, ${titles}, ${summaries}, ${summarized}) as written(id, title, summary, summarized)
      where ${conversations.id} = any(${ids}) and ${conversations.id} = written.id`;
  },
);
