import { z } from "@hono/zod-openapi";
import { and, desc, eq, exists, getTableColumns, notInArray, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import type { Embedder } from "../../../core/ports.ts";
import { clip } from "../../../core/text/text.ts";
import type { Database, Db } from "../../../db/client.ts";
import { assign, column, insertInto } from "../../../db/fragments.ts";
import { agents, memories } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { memoryVectors } from "../../../db/vectors.ts";
import { countFitting } from "../../../http/paging.ts";
import type { JobHandler, JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { unlessRefused } from "../../../jobs/unless-refused.ts";
import { toText } from "./find-near.ts";
import { embedInParts } from "./parts.ts";

const embeddingJob = defineJob("embedMemories", z.object({ agentId: z.uuid() }), ({ agentId }) => agentId);

/**
 * The most texts of one call, for every provider, and the most bytes: Mistral accepts 16,384 tokens, and a token has at
 * least one byte.
 */
const batch = 32;
const batchBytes = 16 * 1024;

/** How many of the newest memories are checked while all earlier ones had vectors less than an hour ago. */
const newest = 1_000;
const hourMs = 3_600_000;

type VectorOptions = Pick<Services, "options">;

type Rememberer = Pick<typeof agents.$inferSelect, "id" | "organizationId" | "memoryEnabled">;

/**
 * Enqueues the embedding of an agent's new and changed memories, if the database has vectors and the agent's memory is
 * on.
 */
export async function enqueueEmbedding({ options }: VectorOptions, db: Db, agent: Rememberer): Promise<void> {
  const { id, organizationId, memoryEnabled } = agent;
  if (options.vectors && memoryEnabled) await enqueue(db, embeddingJob.of({ agentId: id }), { organizationId });
}

/** At a start, enqueues the embedding of all memories without a vector, since vectors may be new in this database. */
export async function enqueueMissing({ options, database }: VectorOptions & Pick<Services, "database">): Promise<void> {
  if (!options.vectors) return;
  const { db } = database;
  const missing = withVectors(db).where(and(eq(memories.agentId, agents.id), outdated));
  const rows = await db
    .select({ id: agents.id, organizationId: agents.organizationId, memoryEnabled: agents.memoryEnabled })
    .from(agents)
    .where(and(agents.memoryEnabled, exists(missing)));
  for (const agent of rows) await enqueueEmbedding({ options }, db, agent);
}

interface Dependencies {
  services: Pick<Services, "database" | "clock" | "log" | "options">;
  /** Null: the agent's provider has no embedding model. */
  embedderOf: (agentSlug: string) => Promise<Embedder | null>;
}

/** Jobs that embed memories, so that they are found by meaning. */
export function embeddingJobs(needs: Dependencies): JobKinds {
  return embeddingJob.doneBy(unlessRefused(needs.services, embedMemories(needs)));
}

function embedMemories({ services, embedderOf }: Dependencies): JobHandler<{ agentId: string }> {
  const { database, clock, log, options } = services;
  /** When all memories of an agent were last seen to have vectors of a model, since checking them all takes seconds. */
  const complete = new Map<string, { model: string; at: number }>();
  const isComplete = (agentId: string, model: string) => {
    const found = complete.get(agentId);
    const age = clock.now() - (found?.at ?? 0);
    return found?.model === model && age >= 0 && age < hourMs;
  };
  return async ({ payload: { agentId }, attempt }, signal) => {
    const { id, organizationId, slug, memoryEnabled } = agents;
    const [agent] = await database.db
      .select({ id, organizationId, slug, memoryEnabled })
      .from(agents)
      .where(eq(agents.id, agentId));
    if (!agent?.memoryEnabled || !options.vectors) return;
    const embedder = await embedderOf(agent.slug);
    if (!embedder) return;
    const { model } = embedder;
    const onlyNewest = isComplete(agentId, model);
    const { stale, more } = await readStale(database, agentId, { model, onlyNewest });
    const since = onlyNewest ? complete.get(agentId) : { model, at: clock.now() };
    // After a failure, all memories are checked again.
    complete.delete(agentId);
    const keep = {
      embedded: (part: readonly StaleMemory[], vectors: Vectors) => store(database, model, part, vectors),
      async refused(memory: StaleMemory) {
        log.warn(
          { agentId, memoryId: memory.id, model },
          "A memory that the model does not take is found by its words alone",
        );
        await store(database, refusedBy(model), [memory], [[0]]);
      },
    };
    if (stale.length > 0) await embedInParts(embedder, stale, keep, { attempt, signal });
    if (more) await enqueueEmbedding(services, database.db, agent);
    else if (since) complete.set(agentId, since);
  };
}

type Vectors = readonly (readonly number[])[];

/**
 * Stands for the model's name when the model refused a text, until the text or the model changes. Such a vector is
 * never used, since no model has this name.
 */
const refusedBy = (model: string) => `refused:${model}`;

/** Also true for a memory without a vector. */
const outdated = sql`${memoryVectors.digest} is distinct from ${memories.digest}`;

/** Memories, each joined with its vector if there is one. */
function withVectors(db: Db) {
  return db
    .select({ id: memories.id, content: memories.content, digest: sql<string>`encode(${memories.digest}, 'hex')` })
    .from(memories)
    .leftJoin(memoryVectors, eq(memoryVectors.memoryId, memories.id));
}

interface StaleMemory {
  id: string;
  content: string;
  /** The digest, in hexadecimal. */
  digest: string;
}

/** The next batch, newest first, and whether there may be more. */
async function readStale(
  database: Database,
  agentId: string,
  { model, onlyNewest }: { model: string; onlyNewest: boolean },
): Promise<{ stale: StaleMemory[]; more: boolean }> {
  const { db } = database;
  const [own, newestFirst] = [eq(memories.agentId, agentId), desc(memories.updatedAt)];
  const some = db.select({ id: memories.id }).from(memories).where(own).orderBy(newestFirst).limit(newest);
  const stale = or(outdated, notInArray(memoryVectors.model, [model, refusedBy(model)]));
  const rows = await withVectors(db)
    .where(and(own, stale, onlyNewest ? sql`${memories.id} = any(array(${some}))` : undefined))
    .orderBy(newestFirst)
    .limit(batch);
  const texts = rows.map((row) => ({ ...row, content: clip(row.content, 4_000) }));
  const sizes = texts.map(({ content }) => utf8.encode(content).byteLength);
  const taken = countFitting(sizes, batchBytes);
  return { stale: texts.slice(0, taken), more: taken === batch || taken < rows.length };
}

const utf8 = new TextEncoder();

const storeStatement = statement(
  { model: "text", ids: "uuid[]", digests: "text[]", vectors: "text[]" },
  ({ model, ids, digests, vectors }) => {
    const made = { digest: sql`decode(n.digest, 'hex')`, embedding: sql`n.embedding::vector` };
    const { memoryId, ...excluded } = getTableColumns(alias(memoryVectors, "excluded"));
    return sql`${insertInto(memoryVectors, { memoryId: sql`n.id`, model, ...made })}
      from unnest(${ids}, ${digests}, ${vectors}) as n(id, digest, embedding)
      where exists (select 1 from ${memories} where ${memories.id} = n.id)
      on conflict (${column(memoryId)}) do update set ${assign(memoryVectors, excluded)}`;
  },
);

/** Stores vectors. If a memory was changed meanwhile, its vector is never used, since the digests differ. */
async function store(
  database: Database,
  model: string,
  stale: readonly StaleMemory[],
  vectors: Vectors,
): Promise<void> {
  await storeStatement.run(database, {
    model,
    ids: stale.map(({ id }) => id),
    digests: stale.map(({ digest }) => digest),
    vectors: vectors.map(toText),
  });
}
