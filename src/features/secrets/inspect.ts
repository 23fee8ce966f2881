import { and, eq, isNotNull, lt, ne, notInArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import type { Services } from "../../context/ctx.ts";
import { addedBySealing } from "../../core/credentials/cipher.ts";
import { s3Places } from "../../core/files/s3.ts";
import { shortestSecret } from "../../core/scrub/scrub.ts";
import type { Db } from "../../db/client.ts";
import { agents, installation, secrets, skillEnv } from "../../db/schema.ts";
import { keyCheckPlace } from "./encryption-key.ts";
import { authKeyName, shortestAuthKey } from "./rules.ts";
import { sealings } from "./sealings.ts";

export interface SecretsReport {
  /** `unused`: nothing was sealed yet, such as before the first start. */
  key: "right" | "wrong" | "unused";
  /** The number of sealed values, including the key check. */
  sealed: number;
  /** The number of values sealed with an earlier key, which wait for `rotate-key`. */
  older: number;
  /** The slugs of agents that have secrets too short to be scrubbed; the chat API key does not count. */
  short: string[];
  /** The slugs of agents whose API key is shorter than new keys must be. */
  shortKeys: string[];
}

/** Whether the encryption key opens the stored secrets, and their number. Only reads. */
export async function inspectSecrets(services: Services): Promise<SecretsReport> {
  const { database, cipher } = services;
  return {
    key: await checkKey(services),
    sealed: await countValues(database.db, isNotNull),
    older: await countValues(database.db, (keyId) => ne(keyId, cipher.keyId)),
    short: await agentsWithShort(database.db),
    shortKeys: await agentsWithShortKeys(database.db),
  };
}

/** By the length of the sealed bytes, without opening them. A short value with non-Latin letters is missed. */
const isShort = (ciphertext: AnyPgColumn, shortest: number) =>
  lt(sql`octet_length(${ciphertext})`, addedBySealing + shortest);

async function agentsWithShort(db: Db): Promise<string[]> {
  const ofAgents = db
    .select({ slug: agents.slug })
    .from(secrets)
    .innerJoin(agents, eq(agents.id, secrets.agentId))
    .where(
      and(
        isShort(secrets.ciphertext, shortestSecret),
        notInArray(secrets.key, [authKeyName, ...s3Places]),
        sql`right(${secrets.key}, 9) <> '_base_url'`,
      ),
    );
  const ofSkills = db
    .select({ slug: agents.slug })
    .from(skillEnv)
    .innerJoin(agents, eq(agents.id, skillEnv.agentId))
    .where(and(isShort(skillEnv.ciphertext, shortestSecret), skillEnv.sensitive));
  const rows = await ofAgents.union(ofSkills);
  return rows.map(({ slug }) => slug).sort();
}

async function agentsWithShortKeys(db: Db): Promise<string[]> {
  const rows = await db
    .select({ slug: agents.slug })
    .from(secrets)
    .innerJoin(agents, eq(agents.id, secrets.agentId))
    .where(and(eq(secrets.key, authKeyName), isShort(secrets.ciphertext, shortestAuthKey)))
    .orderBy(agents.slug);
  return rows.map(({ slug }) => slug);
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
