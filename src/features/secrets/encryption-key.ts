import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { excluded } from "../../db/fragments.ts";
import { installation } from "../../db/schema.ts";

/** The AAD of the fixed text that an installation seals to check its key later. */
export const keyCheckPlace = "installation:key-check";
const known = "agent-engine";

/**
 * Verifies at the start, not only at the first chat, that the encryption key opens the stored secrets (decisions §1).
 * The first start stores a known text sealed with its key. Throws an `EngineError` with advice.
 */
export async function verifyEncryptionKey({ database, cipher }: Services): Promise<void> {
  const { keyId, ciphertext } = await cipher.seal(known, keyCheckPlace);
  const [stored] = await database.db
    .insert(installation)
    .values({ id: 1, keyCheck: ciphertext, keyCheckKeyId: keyId })
    .onConflictDoUpdate({
      target: installation.id,
      // Of several replicas that start at once, one writes; the others compare.
      set: {
        keyCheck: sql`coalesce(${installation.keyCheck}, ${excluded(installation.keyCheck)})`,
        keyCheckKeyId: sql`coalesce(${installation.keyCheckKeyId}, ${excluded(installation.keyCheckKeyId)})`,
      },
    })
    .returning({ ciphertext: installation.keyCheck, keyId: installation.keyCheckKeyId });
  try {
    if (!stored?.ciphertext || !stored.keyId) throw new Error("The installation has no key check");
    await cipher.open({ ciphertext: stored.ciphertext, keyId: stored.keyId }, keyCheckPlace);
  } catch (cause) {
    const message =
      "ENCRYPTION_KEY is not the key that this database's secrets were sealed with: set that key, or name it in ENCRYPTION_KEY_PREVIOUS; if it is lost for good, agent-engine forget-secrets opens the rest";
    throw new EngineError("internal", message, { cause });
  }
}
