import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context.ts";
import type { Cipher } from "../../core/cipher.ts";
import type { Db } from "../../db/client.ts";
import { channels } from "../../db/schema.ts";

/** The sealed part of the channel `web`. Its key is a secret of the agent, its authentication a field of the agent. */
export interface WebConfig {
  /** Conversation-state key → dotted path in the request's context. */
  contextMapping: Readonly<Record<string, string>>;
  /** Origins as browsers send them, or `*`. */
  allowedOrigins: readonly string[];
}

interface ConfigRow {
  keyId: string;
  config: Uint8Array;
}

const place = (agentId: string) => `${agentId}:channel:web`;

/** The stored configuration of an agent's channel `web`; empty when there is no row. */
export async function openWebConfig(cipher: Cipher, agentId: string, row: ConfigRow | null): Promise<WebConfig> {
  const none: WebConfig = { contextMapping: {}, allowedOrigins: [] };
  if (!row) return none;
  const opened = await cipher.open({ keyId: row.keyId, ciphertext: row.config }, place(agentId));
  return { ...none, ...(JSON.parse(opened) as Partial<WebConfig>) };
}

/** The row of an agent's channel `web`; null before it was saved for the first time. */
export async function findWebRow(db: Db, agentId: string) {
  const [row] = await db.select().from(channels).where(isWeb(agentId));
  return row ?? null;
}

/** Inserts or replaces the row, with the configuration sealed. */
export async function saveWebRow(
  tx: Db,
  ctx: Ctx,
  agentId: string,
  { enabled, ...config }: WebConfig & { enabled: boolean },
): Promise<void> {
  const { keyId, ciphertext } = await ctx.cipher.seal(JSON.stringify(config), place(agentId));
  const author = authorOf(ctx);
  const values = { enabled, keyId, config: ciphertext, updatedBy: author };
  await tx
    .insert(channels)
    .values({ ...values, agentId, type: "web", createdBy: author })
    .onConflictDoUpdate({ target: [channels.agentId, channels.type], set: { ...values, updatedAt: sql`now()` } });
}

/** Limits a query for channels to an agent's channel `web`. */
export const isWeb = (agentId: string) => and(eq(channels.agentId, agentId), eq(channels.type, "web"));
