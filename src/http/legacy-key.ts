import type { Services } from "../context.ts";
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

/** Rows that the key may be of, and the one that another first use has just rewritten. */
const candidates = `
select id, legacy_hash from access_tokens
where kind = 'management' and (expires_at is null or expires_at > $2::timestamptz)
  and (digest = $3 or (prefix = $1 and legacy_hash ~ '^\\$2[abxy]\\$[0-9]{2}\\$.{53}$'))
order by (legacy_hash is null) desc, created_at, id
limit 8`;

/**
 * Rewrites a management key of the older form, bcrypt, as SHA-256 at its first use (spec "Authentication" 3). True when
 * the digest may be looked up now. Throws the 429 of too many wrong keys that begin like one.
 */
export async function rewriteLegacyKey(services: Services, { key, digest, client, now }: Attempt): Promise<boolean> {
  if (key.length > longestKey) return false;
  const { database, log } = services;
  const rows = await database.query<{ id: string; legacy_hash: string | null }>(candidates, [
    key.slice(0, prefixLength),
    new Date(now).toISOString(),
    digest,
  ]);
  if (rows.length === 0) return false;
  const counter = `legacy-key:${client}`;
  // Before the hashing, so that attempts at the same time can't outrun the limit.
  requireAllowed(await countCall(services, counter, attempts), "wrong keys");
  for (const { id, legacy_hash } of rows) {
    if (legacy_hash !== null && !(await services.passwords.verifyBcrypt(legacy_hash, key))) continue;
    await uncountCall(services, counter);
    // Of first uses at the same time one writes; all find the digest afterwards.
    const written = await database.query(
      "update access_tokens set digest = $2, legacy_hash = null where id = $1 and legacy_hash is not null returning id",
      [id, digest],
    );
    if (written.length > 0) log.info({ id }, "A management key in the older form was rewritten");
    return true;
  }
  return false;
}
