import type { Clock, Embedder, Log } from "../../../core/ports.ts";
import { clip } from "../../../core/text.ts";
import type { Database } from "../../../db/client.ts";

// What memories mean, in the optional table `memory_vectors` (db/vectors.ts): without it nothing here is called.

/** How long a turn waits for the meaning of what was said; without it memories are found by their words. */
const patienceMs = 400;

/** In characters: what is beyond hardly changes the meaning. */
const longestText = 4_000;

/** Of so many nearest ones the best are chosen. */
const nearest = 20;

/** How to find by meaning, and where it is noted that this failed. */
export interface Meaning {
  embedder: Embedder;
  clock: Clock;
  log: Log;
}

const embeddedStatement = `
  select 1 as found from memories m join memory_vectors v on v.memory_id = m.id and v.digest = m.digest
  where m.agent_id = $1 and m.subject in ($2, '') and v.model = $3 limit 1`;

const nearestStatement = (columns: string) => `
  select ${columns} from (
    select m.*, v.embedding <=> $4::vector as distance
    from memories m join memory_vectors v on v.memory_id = m.id and v.digest = m.digest
    where m.agent_id = $1 and m.subject in ($2, '') and v.model = $3
  ) near where distance <= $5::float8 order by distance limit ${nearest}`;

/** The memories whose meaning is near to a text, the nearest first; none when that can't be told in time. */
export async function findNear<Row extends object>(
  database: Database,
  { embedder, clock, log }: Meaning,
  { agentId, subject, text, columns }: { agentId: string; subject: string; text: string; columns: string },
): Promise<Row[]> {
  const { model, least } = embedder;
  // Who has none costs no call.
  if ((await database.query(embeddedStatement, [agentId, subject, model])).length === 0) return [];
  try {
    const [vector] = await inTime(clock, (signal) => embedder.embed([clip(text, longestText)], signal));
    if (!vector) return [];
    return await database.query<Row>(nearestStatement(columns), [agentId, subject, model, toText(vector), 1 - least]);
  } catch (err) {
    log.info({ agentId, err }, "Memories were looked for by their words alone");
    return [];
  }
}

/** Ends in time even where the work ignores its signal. */
async function inTime<T>(clock: Clock, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  late.catch(() => {});
  const cancel = clock.after(patienceMs, () => {
    const reason = new Error("The provider did not answer in time");
    reject(reason);
    controller.abort(reason);
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    cancel();
  }
}

/** pgvector's form of it. */
export const toText = (vector: readonly number[]) => `[${vector.join(",")}]`;
