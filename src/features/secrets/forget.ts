import { sql } from "drizzle-orm";
import { audit } from "../../context/audit.ts";
import type { Services } from "../../context/ctx.ts";
import { agents } from "../../db/schema.ts";
import { verifyEncryptionKey } from "./encryption-key.ts";
import { type Sealing, sealings } from "./sealings.ts";

interface LostValue {
  sealing: Sealing;
  place: string;
  keyId: string;
  /** The value's name for people; null for a value that nobody will miss. */
  name: string | null;
}

/**
 * Deletes the stored values that no configured key opens, so that everything else works again (decisions §1). `mayDrop`
 * gets their names and decides. Returns the names of the deleted values; null when `mayDrop` refused.
 */
export async function forgetSecrets(
  services: Services,
  mayDrop: (names: readonly string[]) => Promise<boolean>,
): Promise<string[] | null> {
  const { database, cipher } = services;
  const lost = await findLost(services);
  const names = lost.flatMap(({ name }) => name ?? []).sort();
  if (lost.length > 0 && !(await mayDrop(names))) return null;
  await database.transaction(async (tx) => {
    for (const { sealing, place, keyId } of lost) {
      const isRow = sql`${sealing.place} = ${place} and ${sealing.keyId} = ${keyId}`;
      await sealing.drop(tx, isRow, (plaintext) => cipher.seal(plaintext, place));
    }
    await tx.update(agents).set({ revision: sql`${agents.revision} + 1` });
    await audit(tx, {
      action: "encryption-key.forget",
      target: "secrets",
      organizationId: null,
      actor: { type: "system", id: null, name: null },
      request: { id: "command-line", ip: "" },
      success: true,
      summary: { dropped: lost.length },
    });
  });
  await verifyEncryptionKey(services);
  return names;
}

async function findLost({ database, cipher }: Services): Promise<LostValue[]> {
  const lost: LostValue[] = [];
  for (const sealing of sealings) {
    const { table, ciphertext, keyId, place, name } = sealing;
    const rows = await database.db
      .select({
        place: sql<string>`${place}`,
        keyId: sql<string>`${keyId}`,
        ciphertext: sql<Uint8Array>`${ciphertext}`,
        name: sql<string | null>`${name}`,
      })
      .from(table)
      .where(sql`${keyId} is not null`);
    for (const row of rows) {
      const opens = await cipher.open(row, row.place).then(
        () => true,
        () => false,
      );
      if (!opens) lost.push({ sealing, place: row.place, keyId: row.keyId, name: row.name });
    }
  }
  return lost;
}
