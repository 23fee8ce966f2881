import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { fields, type RowOf } from "../../../db/fragments.ts";
import { conversations } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { createNote, type Note, summarizedMessages } from "../../conversations/index.ts";
import { type FollowUpKind, followUpKinds, isDue } from "./due.ts";

/** A due conversation. */
export interface DueConversation {
  id: string;
  organizationId: string;
  /** When it became due, as the database writes it. */
  at: string;
  titled: boolean;
  messages: number;
  /** The number of messages at the last summary. */
  summarized: number;
}

/** A position in the order of due times. */
type DuePlace = Pick<DueConversation, "id" | "at">;

/** The position before all conversations. */
export const firstPlace: DuePlace = { id: "00000000-0000-0000-0000-000000000000", at: "-infinity" };

/** The most conversations of one read. */
export const pageSize = 64;

/** The statements of one kind of follow-up jobs. */
export interface DueStatements {
  /** An agent's conversations that are due at a time, after a position; at most a page. */
  next(agentId: string, now: number, after: DuePlace): Promise<readonly DueConversation[]>;
  /** Stores the results for a conversation, and removes its due time. */
  settle(note: Note): Promise<void>;
  /** The agent's next due conversation, with its time in milliseconds since the epoch; null for none. */
  first(agentId: string): Promise<{ at: number; organizationId: string } | null>;
}

export function dueStatements(services: Pick<Services, "database" | "clock">, kind: FollowUpKind): DueStatements {
  const { database } = services;
  const dueAt = followUpKinds[kind];
  const { id, agentId, organizationId, title, messageCount } = conversations;
  const due = fields({
    id,
    organizationId,
    at: sql<string>`${dueAt}::text`,
    titled: sql<boolean>`${title} is not null`,
    messages: messageCount,
    summarized: summarizedMessages,
  });
  // Reads row by row: for a whole page PostgreSQL, which expects few due rows, would read and sort all of them.
  const nextStatement = statement(
    { agentId: "uuid", now: "timestamptz", afterAt: "timestamptz", afterId: "uuid" },
    (given) => {
      const oneAfter = (at: SQL, place: SQL) => sql`(
        select ${due}, ${dueAt} as due_at from ${conversations} where ${agentId} = ${given.agentId}
          and ${isDue(kind)} and ${dueAt} <= ${given.now} and (${dueAt}, ${id}) > (${at}, ${place})
        order by ${dueAt}, ${id} limit 1)`;
      return sql<RowOf<typeof due>>`
        with recursive walk as (
          ${oneAfter(given.afterAt, given.afterId)} union all
          select next.* from walk cross join lateral ${oneAfter(sql`walk.due_at`, sql`walk.id`)} next
        ) select * from walk limit ${pageSize}`;
    },
  );
  const first = fields({ at: sql<number>`(extract(epoch from ${dueAt}) * 1000)::float8`, organizationId });
  const firstStatement = statement(
    { agentId: "uuid" },
    (given) => sql<RowOf<typeof first>>`
      select ${first} from ${conversations} where ${agentId} = ${given.agentId} and ${isDue(kind)}
      order by ${dueAt} limit 1`,
  );
  return {
    next: (agentId, now, { at, id }) =>
      nextStatement.run(database, { agentId, now: new Date(now), afterAt: at, afterId: id }),
    settle: createNote(services, dueAt),
    first: async (agentId) => (await firstStatement.run(database, { agentId }))[0] ?? null,
  };
}
