import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { exclusiveCredential } from "../../core/channels/messengers.ts";
import { assign } from "../../db/fragments.ts";
import { channels, eventSources, installation, jobs, plugins, secrets, skillEnv } from "../../db/schema.ts";
import { keyCheckPlace } from "./encryption-key.ts";

/** A table with sealed values, and expressions over its rows. */
export interface Sealing {
  table: PgTable;
  ciphertext: SQLWrapper;
  /** The key that sealed the value; null when the row has no sealed value. */
  keyId: SQLWrapper;
  /** The text that the value is bound to. */
  place: SQL;
  /** The text by whose HMAC (`mark`) the row is found; absent where the plaintext itself is that, or nothing is. */
  marked?(place: string, plaintext: string): string | null;
  /** The assignments of an update that replaces the value. */
  set(fresh: { keyId: SQL; ciphertext: SQL; mark: SQL }): SQL;
}

/** All sealed values of an installation. */
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
    set: ({ keyId, ciphertext }) => assign(secrets, { keyId, ciphertext }),
  },
  {
    table: channels,
    ciphertext: channels.config,
    keyId: sql`nullif(${channels.keyId}, '')`,
    place: sql`${channels.agentId} || ':channel:' || ${channels.type}`,
    marked: (place, plaintext) => exclusiveCredential(place.split(":").at(-1) ?? "", JSON.parse(plaintext)),
    set({ keyId, ciphertext, mark }) {
      const accountHmac = sql`case when ${channels.accountHmac} is not null then ${mark} end`;
      return assign(channels, { keyId, config: ciphertext, accountHmac });
    },
  },
  {
    table: skillEnv,
    ciphertext: skillEnv.ciphertext,
    keyId: skillEnv.keyId,
    place: sql`${skillEnv.agentId} || ':' || ${skillEnv.skillId} || ':' || ${skillEnv.key}`,
    set: ({ keyId, ciphertext }) => assign(skillEnv, { keyId, ciphertext }),
  },
  {
    table: plugins,
    ciphertext: plugins.config,
    keyId: plugins.keyId,
    place: sql`${plugins.organizationId} || ':plugin:' || ${plugins.namespace}`,
    set: ({ keyId, ciphertext }) => assign(plugins, { keyId, config: ciphertext }),
  },
  {
    table: eventSources,
    ciphertext: eventSources.credentials,
    keyId: eventSources.keyId,
    place: sql`${eventSources.id} || ':event-source'`,
    set: ({ keyId, ciphertext }) => assign(eventSources, { keyId, credentials: ciphertext }),
  },
  {
    table: jobs,
    ciphertext: sql`decode(${jobs.payload} #>> '{keys,ciphertext}', 'base64')`,
    // The keys to a bucket whose files a job deletes, and an account that a channel had. Nobody needs those of a job that
    // failed for good.
    keyId: sql`case when ${jobs.kind} in ('deleteFiles', 'channel.leave') and ${jobs.status} = 'pending'
      then ${jobs.payload} #>> '{keys,keyId}' end`,
    place: sql`case ${jobs.kind} when 'channel.leave' then 'leave:' else 'files:' end || (${jobs.payload} ->> 'batch')`,
    set({ keyId, ciphertext }) {
      const oneLine = sql`translate(encode(${ciphertext}, 'base64'), E'\\n', '')`;
      const keys = sql`jsonb_build_object('keyId', ${keyId}, 'ciphertext', ${oneLine})`;
      return assign(jobs, { payload: sql`jsonb_set(${jobs.payload}, '{keys}', ${keys})` });
    },
  },
];
