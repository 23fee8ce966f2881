import type { Database } from "../../db/client.ts";
import { findNear, type Meaning } from "./meaning/find-near.ts";
import { bestMatches, chooseRecalled, interleave } from "./rules.ts";
import { anyOf, tellingWords } from "./text.ts";

/** A memory as a turn uses it. */
export interface Recalled {
  id: string;
  content: string;
  category: string;
  importance: number;
  updatedAt: Date;
}

interface Row extends Omit<Recalled, "updatedAt"> {
  updated_at_ms: number;
}

/** Of so many that have a word of the query the best are chosen. */
const candidates = 100;

const columns = `id, content, category, importance, (extract(epoch from updated_at) * 1000)::float8 as updated_at_ms`;

/**
 * $1 the agent, $2 the end user, $3 the query; what is about nobody in particular is everybody's. `is true` keeps the
 * planner from the index over the words of all end users, which common words make long.
 */
const matching = `(select ${columns} from memories
  where agent_id = $1 and subject in ($2, '') and (search @@ $3::tsquery) is true
  order by ts_rank(search, $3::tsquery) desc, updated_at desc limit ${candidates})`;

/** $4 how many. Each in the order of an index. */
const important = (subject: string) => `(select ${columns} from memories where agent_id = $1 and subject = ${subject}
  order by importance desc, updated_at desc limit $4)`;

const recallStatement = `${matching} union ${important("$2")} union ${important("''")}`;

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
    wanted === null ? [] : database.query<Row>(matching, [agentId, subject, wanted]),
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
    database.query<Row>(recallStatement, [agentId, subject, anyOf(tellingWords(text)), limit]),
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
  return (await findNear<Row>(database, meaning, { ...asked, columns })).map(toRecalled);
}

function toRecalled({ updated_at_ms, ...row }: Row): Recalled {
  return { ...row, updatedAt: new Date(updated_at_ms) };
}

/** Memories as lines of a prompt, each on one line: what was stored can't pretend to be another part of the prompt. */
export function memoryLines(memories: readonly Recalled[]): string {
  return memories
    .map(({ content, updatedAt }) => `- ${content.replaceAll(/\s+/g, " ")} (${updatedAt.toISOString().slice(0, 10)})`)
    .join("\n");
}
