import { type SQL, sql } from "drizzle-orm";
import type { Clock, Embedder, Log } from "../../../core/ports.ts";
import { clip } from "../../../core/text/text.ts";
import type { Database } from "../../../db/client.ts";
import { memories } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { memoryVectors } from "../../../db/vectors.ts";
import { type RecalledRow, recalled } from "../recalled.ts";

// Vectors of memories are in the table `memory_vectors` (db/vectors.ts). Without that table, nothing here is called.

/** How long a turn waits for the vector of a text, in milliseconds. After that, memories are found only by their words. */
const patienceMs = 400;

/** The most characters of a text that are embedded: more hardly change the vector. */
const longestText = 4_000;

/** The most memories found. */
const nearest = 20;

/** Finds memories by meaning, and logs failures. */
export interface Meaning {
  embedder: Embedder;
  clock: Clock;
  log: Log;
}

const { memoryId, embedding } = memoryVectors;

/** The memories of a subject that have a current vector of this model. */
const embedded = ({ agentId, subject, model }: { agentId: SQL; subject: SQL; model: SQL }) => sql`
  from ${memories} join ${memoryVectors} on ${memoryId} = ${memories.id} and ${memoryVectors.digest} = ${memories.digest}
  where ${memories.agentId} = ${agentId} and ${memories.subject} in (${subject}, '') and ${memoryVectors.model} = ${model}`;

const embeddedTypes = { agentId: "uuid", subject: "text", model: "text" } as const;

const embeddedStatement = statement(embeddedTypes, (values) => sql`select 1 as found ${embedded(values)} limit 1`);

type NearRow = RecalledRow & { distance: number };

/**
 * The distance is not a condition, so that it is computed once for each row, and only for vectors of the same model:
 * pgvector refuses those of another length.
 */
const nearestStatement = statement(
  { ...embeddedTypes, vector: "vector" },
  ({ vector, ...values }) => sql<NearRow>`select ${recalled}, ${embedding} <=> ${vector} as distance ${embedded(values)}
    order by distance limit ${nearest}`,
);

/** The memories closest in meaning to a text, closest first; none when the provider fails or is late. */
export async function findNear(
  database: Database,
  { embedder, clock, log }: Meaning,
  { agentId, subject, text }: { agentId: string; subject: string; text: string },
): Promise<RecalledRow[]> {
  const { model, least } = embedder;
  const about = { agentId, subject, model };
  // When no vector can be compared, the provider is not called.
  if ((await embeddedStatement.run(database, about)).length === 0) return [];
  try {
    const [vector] = await inTime(clock, (signal) => embedder.embed([clip(text, longestText)], signal));
    if (!vector) return [];
    const rows = await nearestStatement.run(database, { ...about, vector: toText(vector) });
    return rows.filter(({ distance }) => distance <= 1 - least);
  } catch (err) {
    log.info({ agentId, err }, "Memories were looked for by their words alone");
    return [];
  }
}

/** Rejects after `patienceMs`, even when the work ignores its signal. */
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

/** pgvector's text form of a vector. */
export const toText = (vector: readonly number[]) => `[${vector.join(",")}]`;
