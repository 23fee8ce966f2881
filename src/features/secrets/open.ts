import type { Cipher, Sealed } from "../../core/credentials/cipher.ts";
import { secretPlace } from "./rules.ts";

/** The values of an agent's secret rows by key. Rejects when one does not open: the encryption key is a wrong one. */
export async function openSecrets(
  cipher: Cipher,
  agentId: string,
  rows: readonly (Sealed & { key: string })[],
): Promise<ReadonlyMap<string, string>> {
  const opened = rows.map(async (row) => [row.key, await cipher.open(row, secretPlace(agentId, row.key))] as const);
  return new Map(await Promise.all(opened));
}
