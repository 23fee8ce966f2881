import { and, desc, eq, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { type Limit, requireAllowed } from "../../core/limits/throttle.ts";
import type { Database } from "../../db/client.ts";
import { accessTokens } from "../../db/schema.ts";
import { liveToken } from "../../db/standing.ts";
import { countCall, uncountCall } from "../../db/throttle.ts";

/** How many characters of a key its row stores in `prefix`. */
const prefixLength = 10;

/** Bcrypt ignores characters after this many; the engine's own keys are shorter. */
const longestKey = 72;

/** The most wrong keys with an existing prefix from one client: each costs the server at least one slow hash. */
const attempts: Limit = { calls: 30, windowMs: 60_000 };

interface Attempt {
  key: string;
  digest: Uint8Array;
  /** The client (`clientKey`) whose wrong keys are counted. */
  client: string;
  now: number;
}

/**
 * Rewrites a management key of the older form, bcrypt, as SHA-256 at its first use (spec "Authentication" 3). Returns true
 * when the digest can be found afterwards. Throws the 429 after too many wrong keys with the prefix of a stored key.
 */
export async function rewriteLegacyKey(services: Services, { key, digest, client, now }: Attempt): Promise<boolean> {
  if (key.length > longestKey) return false;
  const { database, log } = services;
  const rows = await candidates(database, { key, digest, now });
  if (rows.length === 0) return false;
  const counter = `legacy-key:${client}`;
  // The call is counted before the hashing, so that simultaneous attempts can't exceed the limit.
  requireAllowed(await countCall(services, counter, attempts), "wrong keys");
  for (const { id, legacyHash } of rows) {
    if (legacyHash !== null && !(await services.passwords.verifyBcrypt(legacyHash, key))) continue;
    await uncountCall(services, counter);
    // Of several first uses at the same time only one writes; the others find the digest.
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

/** The rows that may contain the key, including one that another first use has just rewritten. */
function candidates({ db }: Database, { key, digest, now }: Omit<Attempt, "client">) {
  const { id, kind, prefix, legacyHash, createdAt } = accessTokens;
  const alive = liveToken(accessTokens, new Date(now), false);
  const older = and(eq(prefix, key.slice(0, prefixLength)), sql`${legacyHash} ~ ${bcryptForm}`);
  return db
    .select({ id, legacyHash })
    .from(accessTokens)
    .where(and(eq(kind, "management"), alive, or(eq(accessTokens.digest, digest), older)))
    .orderBy(desc(isNull(legacyHash)), createdAt, id)
    .limit(8);
}
