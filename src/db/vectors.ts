import { sql } from "drizzle-orm";
import { customType, pgTable, text, uuid } from "drizzle-orm/pg-core";
import type { Log } from "../core/ports.ts";
import { type Database, sqlState } from "./client.ts";
import { bytea } from "./tables/columns.ts";

/** Any number; all releases use the same. */
const lockKey = 7_263_401_166;

const look = `
  select to_regclass('memory_vectors') is not null as made,
    exists (select 1 from pg_available_extensions where name = 'vector') as available`;

/** A vector in pgvector's text form. */
const vector = customType<{ data: string }>({ dataType: () => "vector" });

/** The vectors of memories. `addVectors` makes this table, which is not part of every server's schema. */
export const memoryVectors = pgTable("memory_vectors", {
  memoryId: uuid("memory_id").primaryKey(),
  /** The digest of the embedded content. */
  digest: bytea("digest").notNull(),
  /**
   * The model that made the vector, or a note that a model refused the content (features/memories/meaning/embed.ts).
   */
  model: text("model").notNull(),
  embedding: vector("embedding").notNull(),
});

/**
 * Creates the table of vectors on servers that have the extension `vector` (pgvector) and allow to create it; returns
 * whether the table exists. As a separate table it keeps the rest of the schema the same on all servers.
 */
export async function addVectors(database: Database, log: Log): Promise<boolean> {
  const [found] = await database.query<{ made: boolean; available: boolean }>(look, []);
  if (found?.made || !found?.available) return found?.made ?? false;
  try {
    await database.transaction(async (tx) => {
      // Locks out replicas that start at the same moment.
      await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(lockKey))})`);
      await tx.execute(sql`create extension if not exists vector`);
      await tx.execute(sql`
        create table if not exists memory_vectors (
          memory_id uuid primary key references memories on delete cascade,
          digest bytea not null,
          model text not null,
          embedding vector not null
        )`);
    });
    return true;
  } catch (error) {
    const state = sqlState(error);
    if (state === undefined) throw error;
    log.info(
      { code: state },
      "Memories are found by their words, not by their meaning: the extension vector could not be created. Create it as a superuser and start again",
    );
    return false;
  }
}
