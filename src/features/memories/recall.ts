import { type SQL, sql } from "drizzle-orm";
import type { SubjectKey } from "../../core/channels/subjects.ts";
import type { Database } from "../../db/client.ts";
import { memories } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { findNear, type Meaning } from "./meaning/find-near.ts";
import { type Recalled, type RecalledRow, recalled, toRecalled } from "./recalled.ts";
import { bestMatches, chooseRecalled, interleave } from "./rules.ts";
import { distinctiveWords, queryForAny } from "./text.ts";

/** The most memories with a word of the query, best first. */
const candidates = 100;

interface MatchingQuery {
  agentId: SQL;
  subject: SQL;
  words: SQL;
}

/**
 * The memories that contain a word of the query. `is true` keeps the planner from using the index of all end users'
 * words, which is slow for common words.
 */
const matching = ({ agentId, subject, words }: MatchingQuery) => sql<RecalledRow>`(
  select ${recalled} from ${memories}
  where ${memories.agentId} = ${agentId} and ${memories.subject} in (${subject}, '')
    and (${memories.search} @@ ${words}) is true
  order by ts_rank(${memories.search}, ${words}) desc, ${memories.updatedAt} desc limit ${candidates})`;

/** The most important memories of a subject, in the order of an index. */
const important = ({ agentId, subject, limit }: { agentId: SQL; subject: SQL; limit: SQL }) => sql`(
  select ${recalled} from ${memories} where ${memories.agentId} = ${agentId} and ${memories.subject} = ${subject}
  order by ${memories.importance} desc, ${memories.updatedAt} desc limit ${limit})`;

/**
 * Whether a subject has any memory. Reads the most important one, which is first in an index: for just any memory,
 * PostgreSQL would scan those of other subjects when it expects many of this one.
 */
export const isRemembered = (of: Pick<MatchingQuery, "agentId" | "subject">) =>
  sql<boolean>`exists (select from ${important({ ...of, limit: sql`1` })} one)`;

const searchStatement = statement({ agentId: "uuid", subject: "text", words: "tsquery" }, matching);

const recallStatement = statement(
  { agentId: "uuid", subject: "text", words: "tsquery | null", limit: "int" },
  // A memory about no particular end user has an empty subject, and applies to every end user.
  (values) => sql<RecalledRow>`${matching(values)} union ${important(values)}
    union ${important({ ...values, subject: sql`''` })}`,
);

interface RecallScope {
  agentId: string;
  /** The turn's end user: other end users' memories are never found. */
  subject: SubjectKey;
  limit: number;
  /** Finds memories by meaning; absent: they are found only by their words. */
  meaning?: Meaning | null;
}

/** The memories that fit a query, best first. */
export async function searchMemories(
  database: Database,
  { agentId, subject, query, limit, meaning = null }: RecallScope & { query: string },
): Promise<Recalled[]> {
  const wanted = queryForAny(distinctiveWords(query));
  const [rows, near] = await Promise.all([
    wanted === null ? [] : searchStatement.run(database, { agentId, subject, words: wanted }),
    nearTo(database, meaning, { agentId, subject, text: query }),
  ]);
  return interleave(bestMatches(query, rows.map(toRecalled)), near).slice(0, limit);
}

/**
 * The memories for a turn before it answers `text`: those that fit, and the most important ones. Takes one statement;
 * with `meaning` two more and a call of the provider.
 */
export async function recall(
  database: Database,
  { agentId, subject, text, limit = 10, meaning = null }: Omit<RecallScope, "limit"> & { text: string; limit?: number },
): Promise<Recalled[]> {
  const [rows, near] = await Promise.all([
    recallStatement.run(database, { agentId, subject, words: queryForAny(distinctiveWords(text)), limit }),
    nearTo(database, meaning, { agentId, subject, text }),
  ]);
  return chooseRecalled(text, rows.map(toRecalled), { limit, near });
}

const recallManyStatement = statement(
  { agentIds: "uuid[]", subjects: "text[]", words: "text[]", limits: "text[]" },
  ({ agentIds, subjects, words, limits }) => {
    const asked = {
      agentId: sql`asked.agent_id`,
      subject: sql`asked.subject`,
      limit: sql`asked.most`,
      words: sql`asked.words`,
    };
    return sql<RecalledRow & { nth: string }>`
      select asked.nth, known.* from (
        select nth, agent_id, subject, nullif(words, '')::tsquery as words, most
        from unnest(${agentIds}, ${subjects}, ${words}, ${limits}::int[]) with ordinality as a(agent_id, subject, words, most, nth)
      ) asked cross join lateral (
        ${matching(asked)} union ${important(asked)} union ${important({ ...asked, subject: sql`''` })}
      ) known`;
  },
);

/** `recall` for many texts at once, by words only. */
export async function recallMany(
  database: Database,
  asked: readonly (RecallScope & { text: string })[],
): Promise<Recalled[][]> {
  const rows = await recallManyStatement.run(database, {
    agentIds: asked.map(({ agentId }) => agentId),
    subjects: asked.map(({ subject }) => subject),
    words: asked.map(({ text }) => queryForAny(distinctiveWords(text)) ?? ""),
    limits: asked.map(({ limit }) => String(limit)),
  });
  const found = Map.groupBy(rows, ({ nth }) => Number(nth));
  return asked.map(({ text, limit }, index) =>
    chooseRecalled(text, (found.get(index + 1) ?? []).map(toRecalled), { limit }),
  );
}

async function nearTo(
  database: Database,
  meaning: Meaning | null,
  asked: Pick<RecallScope, "agentId" | "subject"> & { text: string },
): Promise<Recalled[]> {
  if (meaning === null || asked.text.trim() === "") return [];
  return (await findNear(database, meaning, asked)).map(toRecalled);
}

/**
 * Memories as lines of a prompt. Each takes one line, so that its content can't look like another part of the prompt.
 */
export function memoryLines(memories: readonly Recalled[]): string {
  return memories
    .map(({ content, updatedAt }) => `- ${content.replaceAll(/\s+/g, " ")} (${updatedAt.toISOString().slice(0, 10)})`)
    .join("\n");
}
