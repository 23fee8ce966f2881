import { and, desc, eq, gt, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Services } from "../context.ts";
import type { Database } from "../db/client.ts";
import { accessTokens } from "../db/schema.ts";
import { countCall, type Limit, requireAllowed, uncountCall } from "./throttle.ts";

/** As many characters of a key as its row names. */
const prefixLength = 10;

/** Bcrypt reads no further; our keys are shorter. */
const longestKey = 72;

/** Wrong keys with a right beginning, from one address: each costs the server a slow hash or several. */
const attempts: Limit = { calls: 30, windowMs: 60_000 };

interface Attempt {
  key: string;
  digest: Uint8Array;
  /** Whom a wrong key counts for. */
  client: string;
  now: number;
}

/**
 * Rewrites a management key of the older form, bcrypt, as SHA-256 at its first use (spec "Authentication" 3). True when
 * the digest may be looked up now. Throws the 429 of too many wrong keys that begin like one.
 */
export async function rewriteLegacyKey(services: Services, { key, digest, client, now }: Attempt): Promise<boolean> {
  if (key.length > longestKey) return false;
  const { database, log } = services;
  const rows = await candidates(database, { key, digest, now });
  if (rows.length === 0) return false;
  const counter = `legacy-key:${client}`;
  // Before the hashing, so that attempts at the same time can't outrun the limit.
  requireAllowed(await countCall(services, counter, attempts), "wrong keys");
  for (const { id, legacyHash } of rows) {
    if (legacyHash !== null && !(await services.passwords.verifyBcrypt(legacyHash, key))) continue;
    await uncountCall(services, counter);
    // Of first uses at the same time one writes; all find the digest afterwards.
    const written = await database.db
      .update(accessTokens)
      .set({ digest, legacyHash: null })
      .where(and(eq(accessTokens.id, id), isNotNull(accessTokens.legacyHash)))
      .returning({ id: accessTokens.id });
    if (written.length > 0) log.info({ id }, "A management key in the older form was rewritten");
    return true;
  }
  return false;
}

const bcryptForm = "^\\$2[abxy]\\$[0-9]{2}\\$.{53}$";

/** Rows that the key may be of, and the one that another first use has just rewritten. */
function candidates({ db }: Database, { key, digest, now }: Omit<Attempt, "client">) {
  const { id, kind, prefix, legacyHash, expiresAt, createdAt } = accessTokens;
  const alive = or(isNull(expiresAt), gt(expiresAt, new Date(now)));
  const older = and(eq(prefix, key.slice(0, prefixLength)), sql`${legacyHash} ~ ${bcryptForm}`);
  return db
    .select({ id, legacyHash })
    .from(accessTokens)
    .where(and(eq(kind, "management"), alive, or(eq(accessTokens.digest, digest), older)))
    .orderBy(desc(isNull(legacyHash)), createdAt, id)
    .limit(8);
}
