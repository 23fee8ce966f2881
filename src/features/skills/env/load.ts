import { asc, eq, type SQL, sql } from "drizzle-orm";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import type { Db } from "../../../db/client.ts";
import { skillEnv, skills, skillVersions } from "../../../db/schema.ts";
import { type Declaration, type EnvSpec, protectionOf } from "../rules.ts";

/** A stored value of a skill's variable. */
export interface LoadedEnv {
  /** The slug of its skill. */
  skill: string;
  key: string;
  value: string;
  sensitive: boolean;
  /** Lists of hosts. The value may be sent only to hosts that are in every list; without lists, to any host. */
  bounds: readonly (readonly string[])[];
}

/** The AAD of a value: in another row its bytes do not open. */
export const envPlace = (agentId: string, skillId: string, key: string) => `${agentId}:${skillId}:${key}`;

/** How all versions declare a row's key. When the version of the stored value is unknown, any of them may apply. */
export const declarations: SQL<Declaration[]> = sql`(
  select coalesce(jsonb_agg(jsonb_build_object('sensitive', spec -> 'sensitive', 'hosts', coalesce(spec -> 'hosts', '[]'),
    'stored', ${skillEnv.versionId} is null or ${skillVersions.id} = ${skillEnv.versionId})), '[]')
  from ${skillVersions}, jsonb_array_elements(${skillVersions.requiredEnv}) as spec
  where ${skillVersions.skillId} = ${skillEnv.skillId} and spec ->> 'name' = ${skillEnv.key})`;

/**
 * All values that the agent stores, by skill and key, including those of disabled skills and of keys that no skill
 * declares. `servedSpec` returns how the version in use declares a key. One query. Rejects when a value does not open,
 * which means a wrong key.
 */
export async function loadEnv(
  db: Db,
  cipher: Cipher,
  agentId: string,
  servedSpec: (skill: string, key: string) => EnvSpec | undefined,
): Promise<LoadedEnv[]> {
  const rows = await db
    .select({ row: skillEnv, skill: skills.slug, declared: declarations })
    .from(skillEnv)
    .innerJoin(skills, eq(skills.id, skillEnv.skillId))
    .where(eq(skillEnv.agentId, agentId))
    .orderBy(asc(skills.slug), asc(skillEnv.key));
  const opened = rows.map(async ({ row, skill, declared }) => {
    const { key } = row;
    const { sensitive, bounds } = protectionOf(declared, servedSpec(skill, key));
    const value = await cipher.open(row, envPlace(agentId, row.skillId, key));
    return { skill, key, value, sensitive: row.sensitive || sensitive, bounds };
  });
  return Promise.all(opened);
}
