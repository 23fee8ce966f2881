import type { Services } from "../../context.ts";
import type { Sealed } from "../../core/cipher.ts";
import { keyCheckPlace } from "./encryption-key.ts";
import { sealings } from "./rotate.ts";

export interface SecretsReport {
  /** `unused`: nothing was sealed yet, as before the first start. */
  key: "right" | "wrong" | "unused";
  /** Values that are sealed, the known text among them. */
  sealed: number;
  /** Those of them that wait for `rotate-key`, because an earlier key sealed them. */
  older: number;
}

/** Whether the encryption key is the one of the stored secrets, and how many there are. Only reads. */
export async function inspectSecrets(services: Services): Promise<SecretsReport> {
  const { database, cipher } = services;
  const counts = sealings.map(
    ({ table, keyId }) => `select count(*)::int as sealed, (count(*) filter (where ${keyId} <> $1))::int as older
      from ${table} where ${keyId} is not null`,
  );
  const [count] = await database.query<{ sealed: number; older: number }>(
    `select sum(sealed)::int as sealed, sum(older)::int as older from (${counts.join(" union all ")}) as counts`,
    [cipher.keyId],
  );
  return { key: await checkKey(services), sealed: count?.sealed ?? 0, older: count?.older ?? 0 };
}

async function checkKey({ database, cipher }: Services): Promise<SecretsReport["key"]> {
  const [stored] = await database.query<Sealed>(
    `select key_check as ciphertext, key_check_key_id as "keyId" from installation where key_check is not null`,
    [],
  );
  if (!stored) return "unused";
  return cipher.open(stored, keyCheckPlace).then(
    () => "right",
    () => "wrong",
  );
}
