import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { assign } from "../../db/fragments.ts";
import { channels, installation, jobs, plugins, secrets, skillEnv } from "../../db/schema.ts";
import { keyCheckPlace } from "./encryption-key.ts";

/** Where sealed values lie: expressions over the row. */
export interface Sealing {
  table: PgTable;
  ciphertext: SQLWrapper;
  keyId: SQLWrapper;
  /** What the value is bound to. */
  place: SQL;
  /** What comes behind `set` to write another one. */
  set(fresh: { keyId: SQL; ciphertext: SQL }): SQL;
}

/** All that is sealed. */
export const sealings: readonly Sealing[] = [
  {
    table: installation,
    ciphertext: installation.keyCheck,
    keyId: installation.keyCheckKeyId,
    place: sql`${keyCheckPlace}`,
    set: ({ keyId, ciphertext }) => assign(installation, { keyCheckKeyId: keyId, keyCheck: ciphertext }),
  },
  {
    table: secrets,
    ciphertext: secrets.ciphertext,
    keyId: secrets.keyId,
    place: sql`coalesce(${secrets.agentId}, ${secrets.organizationId}) || ':' || ${secrets.key}`,
    set: (fresh) => assign(secrets, fresh),
  },
  {
    table: channels,
    ciphertext: channels.config,
    keyId: channels.keyId,
    place: sql`${channels.agentId} || ':channel:' || ${channels.type}`,
    set: ({ keyId, ciphertext }) => assign(channels, { keyId, config: ciphertext }),
  },
  {
    table: skillEnv,
    ciphertext: skillEnv.ciphertext,
    keyId: skillEnv.keyId,
    place: sql`${skillEnv.agentId} || ':' || ${skillEnv.skillId} || ':' || ${skillEnv.key}`,
    set: (fresh) => assign(skillEnv, fresh),
  },
  {
    table: plugins,
    ciphertext: plugins.config,
    keyId: plugins.keyId,
    place: sql`${plugins.organizationId} || ':plugin:' || ${plugins.namespace}`,
    set: ({ keyId, ciphertext }) => assign(plugins, { keyId, config: ciphertext }),
  },
  {
    table: jobs,
    ciphertext: sql`decode(${jobs.payload} #>> '{keys,ciphertext}', 'base64')`,
    // The keys to a bucket whose files are to be deleted; of a job that failed for good nobody needs them.
    keyId: sql`case when ${jobs.kind} = 'deleteFiles' and ${jobs.status} = 'pending'
      then ${jobs.payload} #>> '{keys,keyId}' end`,
    place: sql`'files:' || (${jobs.payload} ->> 'batch')`,
    set({ keyId, ciphertext }) {
      const oneLine = sql`translate(encode(${ciphertext}, 'base64'), E'\\n', '')`;
      const keys = sql`jsonb_build_object('keyId', ${keyId}, 'ciphertext', ${oneLine})`;
      return assign(jobs, { payload: sql`jsonb_set(${jobs.payload}, '{keys}', ${keys})` });
    },
  },
];
