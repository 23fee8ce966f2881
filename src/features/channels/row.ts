import { and, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import type { Cipher } from "../../core/credentials/cipher.ts";
import type { Db } from "../../db/client.ts";
import { channels } from "../../db/schema.ts";
import type { ChannelType } from "./rules.ts";

/** The sealed part of a row. */
export interface SealedConfig {
  keyId: string;
  config: Uint8Array;
}

/** The AAD under which the configuration is sealed. */
const configPlace = (agentId: string, type: ChannelType) => `${agentId}:channel:${type}`;

/** Limits a query for channels to one of an agent. */
export const isChannel = (agentId: string, type: ChannelType) =>
  and(eq(channels.agentId, agentId), eq(channels.type, type));

/** The row of an agent's channel; null before its first save. */
export async function findRow(db: Db, agentId: string, type: ChannelType): Promise<ChannelRow | null> {
  const [row] = await db.select().from(channels).where(isChannel(agentId, type));
  return row ?? null;
}

/** The rows of an agent's channels, by type. */
export async function findRows(db: Db, agentId: string): Promise<ReadonlyMap<string, ChannelRow>> {
  const rows = await db.select().from(channels).where(eq(channels.agentId, agentId));
  return new Map(rows.map((row) => [row.type, row]));
}

/** The stored configuration of a channel; empty without a row, and in a row made by an upgrade (migration 0025). */
export async function openConfig<Config extends object>(
  cipher: Cipher,
  agentId: string,
  type: ChannelType,
  row: SealedConfig | null,
): Promise<Config> {
  if (!row || row.keyId === "") return {} as Config;
  const opened = await cipher.open({ keyId: row.keyId, ciphertext: row.config }, configPlace(agentId, type));
  return JSON.parse(opened) as Config;
}

/**
 * The state of a messenger's channel: `starting` until the messenger accepted the credentials and registered the
 * webhook.
 */
export type ChannelStatus = "off" | "starting" | "running" | "failing";

interface Saved {
  enabled: boolean;
  config: object;
  /** State for the start of a messenger's channel; absent for a channel that needs no start. */
  start?: Pick<ChannelRow, "registeredAddress" | "accountHmac"> & { status: ChannelStatus };
}

export type ChannelRow = typeof channels.$inferSelect;

/** The values of a row whose channel was not started yet. */
export const unstarted = { transport: null, followedBy: null, followedUntil: null } as const;

/** The columns of an error, with the time of the first failure since the last success; null for no error. */
export const withError = (lastError: string | null, now: number) => ({
  lastError,
  errorSince:
    lastError === null ? null : sql`coalesce(${channels.errorSince}, ${new Date(now).toISOString()}::timestamptz)`,
});

/**
 * Inserts or replaces the row, with its configuration sealed, and ends the lease of the process that follows the channel.
 */
export async function saveRow(
  tx: Db,
  ctx: Ctx,
  agentId: string,
  type: ChannelType,
  { enabled, config, start }: Saved,
): Promise<void> {
  const sealed = await ctx.cipher.seal(JSON.stringify(config), configPlace(agentId, type));
  const author = authorOf(ctx);
  const values = {
    ...unstarted,
    enabled,
    lastError: null,
    errorSince: null,
    updatedBy: author,
    keyId: sealed.keyId,
    config: sealed.ciphertext,
    ...start,
  };
  await tx
    .insert(channels)
    .values({ ...values, agentId, type, createdBy: author })
    .onConflictDoUpdate({ target: [channels.agentId, channels.type], set: { ...values, updatedAt: sql`now()` } });
}
