import { eq, isNotNull, ne, type SQL, type SQLWrapper } from "drizzle-orm";
import type { Services } from "../../context.ts";
import type { Db } from "../../db/client.ts";
import { installation } from "../../db/schema.ts";
import { keyCheckPlace } from "./encryption-key.ts";
import { sealings } from "./sealings.ts";

export interface SecretsReport {
  /** `unused`: nothing was sealed yet, as before the first start. */
  key: "right" | "wrong" | "unused";
  /** How many values are sealed, the key check included. */
  sealed: number;
  /** How many of them an earlier key sealed, so that they wait for `rotate-key`. */
  older: number;
}

/** Whether the encryption key is the one of the stored secrets, and how many there are. Only reads. */
export async function inspectSecrets(services: Services): Promise<SecretsReport> {
  const { database, cipher } = services;
  return {
    key: await checkKey(services),
    sealed: await countValues(database.db, isNotNull),
    older: await countValues(database.db, (keyId) => ne(keyId, cipher.keyId)),
  };
}

async function countValues(db: Db, isWanted: (keyId: SQLWrapper) => SQL): Promise<number> {
  const counts = await Promise.all(sealings.map(({ table, keyId }) => db.$count(table, isWanted(keyId))));
  return counts.reduce((total, count) => total + count, 0);
}

async function checkKey({ database, cipher }: Services): Promise<SecretsReport["key"]> {
  const [stored] = await database.db
    .select({ ciphertext: installation.keyCheck, keyId: installation.keyCheckKeyId })
    .from(installation)
    .where(eq(installation.id, 1));
  if (!stored?.ciphertext || !stored.keyId) return "unused";
  return cipher.open({ ciphertext: stored.ciphertext, keyId: stored.keyId }, keyCheckPlace).then(
    () => "right",
    () => "wrong",
  );
}
