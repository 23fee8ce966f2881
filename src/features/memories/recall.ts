import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { memories } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { findNear, type Meaning } from "./meaning/find-near.ts";
import { type Recalled, type RecalledRow, recalled, toRecalled } from "./recalled.ts";
import { bestMatches, chooseRecalled, interleave } from "./rules.ts";
import { anyOf, tellingWords } from "./text.ts";

/** Of so many that have a word of the query the best are chosen. */
const candidates = 100;

interface Wanted {
  agentId: SQL;
  subject: SQL;
  words: SQL;
}

/** `is true` keeps the planner from the index over the words of all end users, which common words make long. */
const matching = ({ agentId, subject, words }: Wanted) => sql<RecalledRow>`(
  select ${recalled} from ${memories}
  where ${memories.agentId} = ${agentId} and ${memories.subject} in (${subject}, '')
    and (${memories.search} @@ ${words}) is true
  order by ts_rank(${memories.search}, ${words}) desc, ${memories.updatedAt} desc limit ${candidates})`;

/** In the order of an index. */
const important = ({ agentId, subject, limit }: { agentId: SQL; subject: SQL; limit: SQL }) => sql`(
  select ${recalled} from ${memories} where ${memories.agentId} = ${agentId} and ${memories.subject} = ${subject}
  order by ${memories.importance} desc, ${memories.updatedAt} desc limit ${limit})`;

const searchStatement = statement({ agentId: "uuid", subject: "text", words: "tsquery" }, matching);

const recallStatement = statement(
  { agentId: "uuid", subject: "text", words: "tsquery | null", limit: "int" },
  // A memory about nobody in particular has an empty subject, and is everybody's.
  (values) => sql<RecalledRow>`${matching(values)} union ${important(values)}
    union ${important({ ...values, subject: sql`''` })}`,
);

interface Asked {
  agentId: string;
  /** The end user of the turn: others' memories are never found. */
  subject: string;
  limit: number;
  /** Absent: they are found by their words alone. */
  meaning?: Meaning | null;
}

/** The memories that fit a query, the best first. */
export async function searchMemories(
  database: Database,
  { agentId, subject, query, limit, meaning = null }: Asked & { query: string },
): Promise<Recalled[]> {
  const wanted = anyOf(tellingWords(query));
  const [rows, near] = await Promise.all([
    wanted === null ? [] : searchStatement.run(database, { agentId, subject, words: wanted }),
    nearTo(database, meaning, { agentId, subject, text: query }),
  ]);
  return interleave(bestMatches(query, rows.map(toRecalled)), near).slice(0, limit);
}

/**
 * What a turn should know before it answers `text`: the memories that fit it, and the most important ones. One
 * statement; by meaning, two more and a call of the provider.
 */
export async function recall(
  database: Database,
  { agentId, subject, text, limit = 10, meaning = null }: Omit<Asked, "limit"> & { text: string; limit?: number },
): Promise<Recalled[]> {
  const [rows, near] = await Promise.all([
    recallStatement.run(database, { agentId, subject, words: anyOf(tellingWords(text)), limit }),
    nearTo(database, meaning, { agentId, subject, text }),
  ]);
  return chooseRecalled(text, rows.map(toRecalled), { limit, near });
}

async function nearTo(
  database: Database,
  meaning: Meaning | null,
  asked: { agentId: string; subject: string; text: string },
): Promise<Recalled[]> {
  if (meaning === null || asked.text.trim() === "") return [];
  return (await findNear(database, meaning, asked)).map(toRecalled);
}

/** Memories as lines of a prompt, each on one line: what was stored can't pretend to be another part of the prompt. */
export function memoryLines(memories: readonly Recalled[]): string {
  return memories
    .map(({ content, updatedAt }) => `- ${content.replaceAll(/\s+/g, " ")} (${updatedAt.toISOString().slice(0, 10)})`)
    .join("\n");
}
