import { z } from "@hono/zod-openapi";
import type { Services } from "../../../context.ts";
import type { Embedder } from "../../../core/ports.ts";
import { clip } from "../../../core/text.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database, Db } from "../../../db/client.ts";
import type { JobHandler, JobHandlers } from "../../../jobs/attempt.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { unlessRefused } from "../../../jobs/unless-refused.ts";
import { toText } from "./find-near.ts";

const embedding = "embedMemories";

/** As many as every provider takes at a time. */
const batch = 32;

type Has = Pick<Services, "options">;

/** Has what is new or changed of an agent's memories made findable by meaning, where there are vectors. */
export async function enqueueEmbedding({ options }: Has, db: Db, agentId: string): Promise<void> {
  if (options.vectors) await enqueue(db, embedding, { agentId }, { key: agentId });
}

/** The same for all agents at a start: vectors may be new to the database. */
export async function enqueueMissing({ options, database }: Has & Pick<Services, "database">): Promise<void> {
  if (!options.vectors) return;
  const rows = await database.query<{ agent_id: string }>(
    `select a.id as agent_id from agents a where exists (
       select 1 from memories m left join memory_vectors v on v.memory_id = m.id
       where m.agent_id = a.id and v.digest is distinct from m.digest)`,
    [],
  );
  for (const { agent_id } of rows) await enqueueEmbedding({ options }, database.db, agent_id);
}

interface Needs {
  services: Pick<Services, "database" | "log" | "options">;
  /** Null: the agent's provider has no embedding model. */
  embedderOf: (agentSlug: string) => Promise<Embedder | null>;
}

/** Makes memories findable by meaning. */
export function embeddingJobs(needs: Needs): JobHandlers {
  return { [embedding]: unlessRefused(needs.services, embedMemories(needs)) };
}

const Payload = z.object({ agentId: z.uuid() });

function embedMemories({ services, embedderOf }: Needs): JobHandler {
  const { database, options } = services;
  return async ({ payload }, signal) => {
    const { agentId } = Payload.parse(payload);
    const [agent] = await database.query<{ slug: string }>("select slug from agents where id = $1", [agentId]);
    const embedder = agent && options.vectors ? await embedderOf(agent.slug) : null;
    if (!embedder) return;
    const stale = await readStale(database, agentId, embedder.model);
    if (stale.length === 0) return;
    const vectors = await embedder.embed(
      stale.map(({ content }) => content),
      signal,
    );
    signal.throwIfAborted();
    await store(database, embedder.model, stale, vectors);
    if (stale.length === batch) await enqueueEmbedding(services, database.db, agentId);
  };
}

interface Stale {
  id: string;
  content: string;
  /** Hexadecimal. */
  digest: string;
}

async function readStale(database: Database, agentId: string, model: string): Promise<Stale[]> {
  const rows = await database.query<Stale>(
    `select m.id, m.content, encode(m.digest, 'hex') as digest
     from memories m left join memory_vectors v on v.memory_id = m.id
     where m.agent_id = $1 and (v.digest is distinct from m.digest or v.model <> $2) order by m.updated_at desc limit ${batch}`,
    [agentId, model],
  );
  return rows.map((row) => ({ ...row, content: clip(row.content, 4_000) }));
}

/** Of a memory that changed meanwhile it is of no use: its digest is another one. */
async function store(
  database: Database,
  model: string,
  stale: readonly Stale[],
  vectors: readonly (readonly number[])[],
): Promise<void> {
  await database.query(
    `insert into memory_vectors (memory_id, digest, model, embedding)
     select n.id, decode(n.digest, 'hex'), $1, n.embedding::vector
     from unnest($2::uuid[], $3::text[], $4::text[]) as n(id, digest, embedding)
     where exists (select 1 from memories where id = n.id)
     on conflict (memory_id) do update set digest = excluded.digest, model = excluded.model, embedding = excluded.embedding`,
    [
      model,
      writeArray(stale.map(({ id }) => id)),
      writeArray(stale.map(({ digest }) => digest)),
      writeArray(vectors.map(toText)),
    ],
  );
}
