import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context.ts";
import type { Cipher } from "../../core/cipher.ts";
import type { MessengerName } from "../../core/messengers.ts";
import type { Db } from "../../db/client.ts";
import { channels } from "../../db/schema.ts";

/** The channels that have a row. */
type StoredType = "web" | MessengerName;

/** The sealed part of a row. */
export interface SealedConfig {
  keyId: string;
  config: Uint8Array;
}

const place = (agentId: string, type: StoredType) => `${agentId}:channel:${type}`;

/** Limits a query for channels to one of an agent. */
export const isChannel = (agentId: string, type: StoredType) =>
  and(eq(channels.agentId, agentId), eq(channels.type, type));

/** The row of an agent's channel; null before it was saved for the first time. */
export async function findRow(db: Db, agentId: string, type: StoredType) {
  const [row] = await db.select().from(channels).where(isChannel(agentId, type));
  return row ?? null;
}

/** The stored configuration of a channel; empty when there is no row. */
export async function openConfig<Config extends object>(
  cipher: Cipher,
  agentId: string,
  type: StoredType,
  row: SealedConfig | null,
): Promise<Config> {
  if (!row) return {} as Config;
  const opened = await cipher.open({ keyId: row.keyId, ciphertext: row.config }, place(agentId, type));
  return JSON.parse(opened) as Config;
}

interface Saved {
  enabled: boolean;
  config: object;
  /** Null for a channel that needs no start. */
  status?: ChannelStatus | null;
}

/** How far a messenger's channel is: `starting` until the messenger was told, or asked for the first time. */
export type ChannelStatus = "off" | "starting" | "running" | "failing";

/** Inserts or replaces the row, with the configuration sealed. */
export async function saveRow(
  tx: Db,
  ctx: Ctx,
  agentId: string,
  type: StoredType,
  { enabled, config, status = null }: Saved,
): Promise<void> {
  const sealed = await ctx.cipher.seal(JSON.stringify(config), place(agentId, type));
  const author = authorOf(ctx);
  const values = {
    ...{ enabled, status, lastError: null, updatedBy: author },
    ...{ keyId: sealed.keyId, config: sealed.ciphertext },
  };
  await tx
    .insert(channels)
    .values({ ...values, agentId, type, createdBy: author })
    .onConflictDoUpdate({ target: [channels.agentId, channels.type], set: { ...values, updatedAt: sql`now()` } });
}
