import { and, eq, inArray } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { apiKeySecret, baseUrlSecret, type ProviderName, providerAddresses } from "../../core/models/providers.ts";
import type { Db } from "../../db/client.ts";
import { secrets } from "../../db/schema.ts";
import { openSecrets } from "./open.ts";
import { withAddress } from "./rules.ts";

/** New values by their secrets; null for a secret that is deleted. */
type Changes = ReadonlyMap<string, string | null>;

/**
 * Deletes the stored keys of providers whose address another origin takes the place of, unless the change brings the
 * key: a key is told to nobody but whom it was stored for, and whoever may store secrets may not read them. Call it
 * before the change, in its transaction. Answers the deleted keys' names.
 */
export async function dropStrayKeys(
  tx: Db,
  { cipher, options }: Ctx,
  agentId: string,
  changes: Changes,
): Promise<string[]> {
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
    // Without an address the key goes nowhere; the next address is one that takes the place of none.
    return next !== null && next !== origin(provider, stored.get(name));
  });
  if (stray.length === 0) return [];
  const gone = await tx
    .delete(secrets)
    .where(and(eq(secrets.agentId, agentId), inArray(secrets.key, stray.map(apiKeySecret))))
    .returning({ key: secrets.key });
  return gone.map(({ key }) => key).sort();
}

const originOf = (address: string | undefined) => (address && URL.parse(address)?.origin) || null;
