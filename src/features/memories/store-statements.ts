import { type SQL, sql } from "drizzle-orm";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import { storableJson } from "../../core/text/text.ts";
import type { Queries } from "../../db/client.ts";
import { assign, column, excluded, fields, insertInto, jsonRows, type RowOf } from "../../db/fragments.ts";
import { conversations, memories } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { isRemembered } from "./recall.ts";

/** The most memories that a new fact is compared with: those with the most words in common. */
const compared = 100;

/** The option of `ts_rank` that puts the shorter of two equal texts first. */
const byLength = 16;

/** The most memories of one subject of an agent. Beyond that, the least important ones are deleted, the oldest first. */
const subjectLimit = 10_000;

const factShape = {
  nth: "int",
  id: memories.id,
  agentId: memories.agentId,
  organizationId: memories.organizationId,
  subject: memories.subject,
  content: memories.content,
  /** The digest, in hexadecimal. */
  digest: "text",
  /** Finds memories with a word of the content. */
  words: "tsquery",
  search: "text[]",
  /** Null: that of the updated memory, else the default. */
  category: memories.category,
  importance: memories.importance,
  conversationId: memories.sourceConversationId,
  /** The memory that the fact updates. */
  known: memories.id,
  first: "boolean",
} as const;

/** One of several facts, the `nth`, as the statements take it. */
export interface WrittenFact {
  nth: number;
  id: string;
  agentId: string;
  organizationId: string;
  subject: SubjectKey;
  content: string;
  digest: string;
  words: string | null;
  search: readonly string[];
  category: string | null;
  importance: number | null;
  conversationId: string | null;
  known: string | null;
  /** Whether to store the fact only if it is the first one of its subject. */
  first: boolean;
}

const factsIn = (facts: SQL) => jsonRows(facts, "fact", factShape);

type FactColumns = ReturnType<typeof factsIn>["row"];

const ofSubject = ({ agentId, subject }: FactColumns) =>
  sql`${memories.agentId} = ${agentId} and ${memories.subject} = ${subject}`;

interface Alike {
  nth: number;
  id: string;
  content: string;
  same: boolean;
}

const alikeStatement = statement({ facts: "jsonb" }, ({ facts }) => {
  const { table, row } = factsIn(facts);
  const same = sql`${memories.digest} = decode(${row.digest}, 'hex')`;
  return sql<Alike>`
    select ${row.nth}, alike.* from ${table} cross join lateral (
      select ${memories.id}, ${memories.content}, ${same} as same from ${memories}
      where ${ofSubject(row)} and (${same} or (${memories.search} @@ ${row.words}) is true)
      order by 3 desc, ts_rank(${memories.search}, ${row.words}, ${byLength}) desc, ${memories.updatedAt} desc
      limit ${compared}
    ) alike`;
});

/**
 * The memories that are equal to a fact, or share words with it. `is true` keeps the planner from using the index of
 * all end users' words.
 */
export function readAlike(queries: Queries, facts: readonly Omit<WrittenFact, "known">[]): Promise<readonly Alike[]> {
  return alikeStatement.run(queries, { facts: storableJson(facts) });
}

const millisecondsOf = (moment: SQL) => sql<number>`(extract(epoch from ${moment}) * 1000)::float8`;

const returned = fields({
  id: memories.id,
  agentId: memories.agentId,
  organizationId: memories.organizationId,
  subject: memories.subject,
  content: memories.content,
  category: memories.category,
  importance: memories.importance,
  sourceConversationId: memories.sourceConversationId,
  createdAtMs: millisecondsOf(sql`${memories.createdAt}`),
  updatedAtMs: millisecondsOf(sql`${memories.updatedAt}`),
});

export type MemoryRow = Omit<typeof memories.$inferSelect, "digest" | "search">;

interface WrittenMemory {
  nth: number;
  memory: MemoryRow;
  added: boolean;
}

const writeStatement = statement({ facts: "jsonb" }, ({ facts }) => {
  const { table, row } = factsIn(facts);
  const columns = {
    content: row.content,
    digest: sql`decode(${row.digest}, 'hex')`,
    search: sql`array_to_tsvector(${row.search})`,
  };
  /** The conversation of the fact; null after its deletion. */
  const source = sql`(
    select ${conversations.id} from ${conversations}
    where ${conversations.id} = ${row.conversationId} and ${conversations.agentId} = ${row.agentId})`;
  const updated = {
    ...columns,
    category: sql`coalesce(${row.category}, ${memories.category})`,
    importance: sql`coalesce(${row.importance}, ${memories.importance})`,
    sourceConversationId: sql`case when ${row.conversationId} is null then ${memories.sourceConversationId} else ${source} end`,
    updatedAt: sql`now()`,
  };
  const added = {
    ...columns,
    id: row.id,
    agentId: row.agentId,
    organizationId: row.organizationId,
    subject: row.subject,
    category: sql`coalesce(${row.category}, 'general')`,
    importance: sql`coalesce(${row.importance}, 5)`,
    sourceConversationId: source,
  };
  const given = (of: SQL) => sql`(select ${of} from ${sql.identifier("fact")} where ${ofSubject(row)})`;
  const overtaken = {
    content: excluded(memories.content),
    search: excluded(memories.search),
    updatedAt: sql`now()`,
    category: sql`coalesce(${given(row.category)}, ${memories.category})`,
    importance: sql`coalesce(${given(row.importance)}, ${memories.importance})`,
  };
  return sql<RowOf<typeof returned> & { nth: number; added: boolean }>`
    with fact as materialized (select * from ${table}), updated as (
      update ${memories} set ${assign(memories, updated)} from fact
      where ${memories.id} = ${row.known} and ${ofSubject(row)} returning ${row.nth}, ${returned}
    ), inserted as (
      ${insertInto(memories, added)} from fact where ${row.known} is null
        and not (${row.first} and ${isRemembered(row)})
      on conflict (${column(memories.agentId)}, ${column(memories.subject)}, ${column(memories.digest)})
        do update set ${assign(memories, overtaken)}
      returning ${returned}, xmax = 0 as added
    ), surplus as (
      delete from ${memories} where ${memories.id} = any(array(
        select other.id from inserted cross join lateral (
          select ${memories.id} from ${memories}
          where ${memories.agentId} = inserted."agentId" and ${memories.subject} = inserted.subject
          order by ${memories.importance} desc, ${memories.updatedAt} desc offset ${subjectLimit - 1}
        ) other where inserted.added))
    )
    select updated.*, false as added from updated
    union all
    select ${row.nth}, inserted.* from inserted
      join fact on ${row.agentId} = inserted."agentId" and ${row.subject} = inserted.subject`;
});

/** Stores facts of different subjects or agents. Deletes memories beyond the limit, but never the stored facts. */
export async function writeFacts(queries: Queries, facts: readonly WrittenFact[]): Promise<WrittenMemory[]> {
  const rows = await writeStatement.run(queries, { facts: storableJson(facts) });
  return rows.map(({ nth, added, createdAtMs, updatedAtMs, ...memory }) => ({
    nth,
    added,
    memory: { ...memory, createdAt: new Date(createdAtMs), updatedAt: new Date(updatedAtMs) },
  }));
}
