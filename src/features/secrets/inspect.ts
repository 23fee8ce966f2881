import { sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { installation } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { keyCheckPlace } from "./encryption-key.ts";
import { sealings } from "./sealings.ts";

export interface SecretsReport {
  /** `unused`: nothing was sealed yet, as before the first start. */
  key: "right" | "wrong" | "unused";
  /** Values that are sealed, the known text among them. */
  sealed: number;
  /** Those of them that wait for `rotate-key`, because an earlier key sealed them. */
  older: number;
}

const countStatement = statement({ keyId: "text" }, (current) => {
  const counts = sealings.map(
    ({ table, keyId }) => sql`
      select count(*)::int as sealed, (count(*) filter (where ${keyId} <> ${current.keyId}))::int as older
      from ${table} where ${keyId} is not null`,
  );
  return sql<Pick<SecretsReport, "sealed" | "older">>`
    select sum(sealed)::int as sealed, sum(older)::int as older
    from (${sql.join(counts, sql` union all `)}) as counts`;
});

/** Whether the encryption key is the one of the stored secrets, and how many there are. Only reads. */
export async function inspectSecrets(services: Services): Promise<SecretsReport> {
  const { database, cipher } = services;
  const [count] = await countStatement.run(database, { keyId: cipher.keyId });
  return { key: await checkKey(services), sealed: count?.sealed ?? 0, older: count?.older ?? 0 };
}

async function checkKey({ database, cipher }: Services): Promise<SecretsReport["key"]> {
  const { keyCheck, keyCheckKeyId } = installation;
  const [row] = await database.db.select({ ciphertext: keyCheck, keyId: keyCheckKeyId }).from(installation);
  if (!row?.ciphertext || !row.keyId) return "unused";
  return cipher.open({ ciphertext: row.ciphertext, keyId: row.keyId }, keyCheckPlace).then(
    () => "right",
    () => "wrong",
  );
}
