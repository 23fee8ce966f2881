import { and, eq, inArray, ne, sql, sum } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { authorOf, type Ctx } from "../../context/ctx.ts";
import type { Cipher, Sealed } from "../../core/credentials/cipher.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import {
  apiKeySecret,
  baseUrlSecret,
  originOf,
  type ProviderName,
  providerAddresses,
} from "../../core/models/providers.ts";
import { type Db, sqlState } from "../../db/client.ts";
import { excluded } from "../../db/fragments.ts";
import { agents, secrets, skillEnv } from "../../db/schema.ts";
import { authKeyName, secretPlace, withAddress } from "./rules.ts";

export interface SecretItem {
  key: string;
  value: string;
}

/**
 * The most sealed bytes of an agent. Every output of the agent is searched for its values, and preparing that search
 * takes time that grows with them.
 */
const maxStored = 262_144;

export interface SavedSecrets {
  /** The keys whose values changed. */
  replaced: string[];
  /** The deleted keys of providers whose address changed to another origin. */
  dropped: string[];
}

/**
 * Seals and stores an agent's secrets, in the transaction that changes the agent. Skips empty and unchanged values. The
 * values must have passed `secretProblem`. Throws 409 when another agent uses the same API key, and 400 when the agent
 * would store too much.
 */
export async function saveSecrets(
  tx: Db,
  ctx: Ctx,
  agentId: string,
  items: readonly SecretItem[],
): Promise<SavedSecrets> {
  const given = items.filter(({ value }) => value !== "");
  if (given.length === 0) return { replaced: [], dropped: [] };
  const dropped = await dropStrayKeys(tx, ctx, agentId, new Map(given.map(({ key, value }) => [key, value])));
  const changed = await withoutEqual(tx, ctx.cipher, agentId, given);
  if (changed.length > 0) await storeSealed(tx, ctx, agentId, changed);
  const authKey = given.find(({ key }) => key === authKeyName);
  if (authKey) await claimAuthKey(tx, ctx.cipher, agentId, authKey.value);
  return { replaced: changed.map(({ key }) => key), dropped };
}

/** The items whose values are new or changed. A stored value that can't be opened is replaced. */
async function withoutEqual(tx: Db, cipher: Cipher, agentId: string, items: readonly SecretItem[]) {
  const named = inArray(
    secrets.key,
    items.map(({ key }) => key),
  );
  const rows = await tx
    .select({ key: secrets.key, keyId: secrets.keyId, ciphertext: secrets.ciphertext })
    .from(secrets)
    .where(and(eq(secrets.agentId, agentId), named));
  const opened = rows.map(async (row) => {
    const value = await cipher.open(row, secretPlace(agentId, row.key)).catch(() => null);
    return [row.key, value] as const;
  });
  const stored = new Map(await Promise.all(opened));
  return items.filter(({ key, value }) => stored.get(key) !== value);
}

async function storeSealed(tx: Db, ctx: Ctx, agentId: string, items: readonly SecretItem[]): Promise<void> {
  const author = authorOf(ctx);
  const rows = items.map(async ({ key, value }) => ({
    id: newId(),
    agentId,
    key,
    ...(await ctx.cipher.seal(value, secretPlace(agentId, key))),
    createdBy: author,
    updatedBy: author,
  }));
  await tx
    .insert(secrets)
    .values(await Promise.all(rows))
    .onConflictDoUpdate({
      target: [secrets.agentId, secrets.key],
      targetWhere: sql`${secrets.agentId} is not null`,
      set: {
        keyId: excluded(secrets.keyId),
        ciphertext: excluded(secrets.ciphertext),
        updatedBy: excluded(secrets.updatedBy),
        updatedAt: sql`now()`,
      },
    });
  await requireRoom(tx, agentId);
}

/**
 * Throws the 400 for an agent whose secrets and skill variables together exceed `maxStored`. Call it in the transaction
 * that stored some, under the agent's lock. Counts sealed bytes, 28 more than a value has, so that many short values
 * count, too.
 */
export async function requireRoom(tx: Db, agentId: string): Promise<void> {
  const ofSecrets = tx.select({ bytes: sum(octets(secrets.ciphertext)) }).from(secrets);
  const ofSkills = tx.select({ bytes: sum(octets(skillEnv.ciphertext)) }).from(skillEnv);
  const rows = await ofSecrets
    .where(eq(secrets.agentId, agentId))
    .unionAll(ofSkills.where(eq(skillEnv.agentId, agentId)));
  const stored = rows.reduce((total, { bytes }) => total + Number(bytes), 0);
  if (stored <= maxStored) return;
  throw new EngineError(
    "bad-request",
    `An agent keeps at most ${maxStored} bytes of secrets and variables of skills, 28 added to each by encryption; delete some first`,
  );
}

const octets = (column: AnyPgColumn) => sql`octet_length(${column})`;

/** Deletes one secret of an agent, if it exists. Returns the keys that were deleted together with an address. */
export async function removeSecret(tx: Db, ctx: Ctx, agentId: string, key: string): Promise<string[]> {
  const dropped = await dropStrayKeys(tx, ctx, agentId, new Map([[key, null]]));
  await tx.delete(secrets).where(and(eq(secrets.agentId, agentId), eq(secrets.key, key)));
  if (key === authKeyName) await tx.update(agents).set({ authKeyHmac: null }).where(eq(agents.id, agentId));
  return dropped;
}

/** The keys of an agent's secrets. */
export async function storedKeys(db: Db, agentId: string): Promise<Set<string>> {
  const rows = await db.select({ key: secrets.key }).from(secrets).where(eq(secrets.agentId, agentId));
  return new Set(rows.map(({ key }) => key));
}

/** Writes the mark that finds the agent of an API key. Marks of an older encryption key count as taken, too. */
async function claimAuthKey(tx: Db, cipher: Cipher, agentId: string, value: string): Promise<void> {
  const taken = new EngineError("conflict", "auth_api_key: another agent uses this key; choose another one");
  const marks = await cipher.fingerprints(value);
  const [other] = await tx
    .select({ id: agents.id })
    .from(agents)
    .where(and(inArray(agents.authKeyHmac, marks), ne(agents.id, agentId)));
  if (other) throw taken;
  try {
    await tx.update(agents).set({ authKeyHmac: marks[0] }).where(eq(agents.id, agentId));
  } catch (error) {
    throw sqlState(error) === "23505" ? taken : error;
  }
}

/** New values by the names of their secrets; null for a secret to delete. */
type Changes = ReadonlyMap<string, string | null>;

/**
 * Deletes the stored keys of providers whose address changes to another origin, unless the change includes the key. A
 * key must be sent only to the origin for which it was stored: people who may store secrets may not read them. Call it
 * before the change, in its transaction. Returns the names of the deleted keys.
 */
async function dropStrayKeys(tx: Db, { cipher, options }: Ctx, agentId: string, changes: Changes): Promise<string[]> {
  const moved = withAddress.filter((name) => changes.has(baseUrlSecret(name)) && !changes.get(apiKeySecret(name)));
  if (moved.length === 0) return [];
  const rows = await tx
    .select({ key: secrets.key, keyId: secrets.keyId, ciphertext: secrets.ciphertext })
    .from(secrets)
    .where(and(eq(secrets.agentId, agentId), inArray(secrets.key, moved.map(baseUrlSecret))));
  const stored = await openSecrets(cipher, agentId, rows);
  const origin = (provider: ProviderName, own: string | null | undefined) =>
    originOf(own ?? options.environmentKeys.get(baseUrlSecret(provider)) ?? providerAddresses[provider]);
  const stray = moved.filter((provider) => {
    const name = baseUrlSecret(provider);
    const next = origin(provider, changes.get(name));
    // Without an address the key is sent nowhere, and a first address replaces none.
    return next !== null && next !== origin(provider, stored.get(name));
  });
  if (stray.length === 0) return [];
  const gone = await tx
    .delete(secrets)
    .where(and(eq(secrets.agentId, agentId), inArray(secrets.key, stray.map(apiKeySecret))))
    .returning({ key: secrets.key });
  return gone.map(({ key }) => key).sort();
}

/** The values of an agent's secrets by key. Rejects when one can't be opened, which means a wrong encryption key. */
export async function openSecrets(
  cipher: Cipher,
  agentId: string,
  rows: readonly (Sealed & { key: string })[],
): Promise<ReadonlyMap<string, string>> {
  const opened = rows.map(async (row) => [row.key, await cipher.open(row, secretPlace(agentId, row.key))] as const);
  return new Map(await Promise.all(opened));
}
