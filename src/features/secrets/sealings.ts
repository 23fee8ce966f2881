import { inArray, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { exclusiveCredential } from "../../core/channels/messengers.ts";
import type { Sealed } from "../../core/credentials/cipher.ts";
import { digest, randomToken, toHex } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { assign } from "../../db/fragments.ts";
import {
  agents,
  channels,
  eventSources,
  installation,
  jobs,
  organizations,
  plugins,
  providerConnections,
  secrets,
  skillEnv,
  skills,
} from "../../db/schema.ts";
import { keyCheckPlace } from "./encryption-key.ts";
import { authKeyName } from "./rules.ts";

/** A table with sealed values, and SQL expressions for its rows. */
export interface Sealing {
  table: PgTable;
  ciphertext: SQLWrapper;
  /** The id of the key that sealed the value; null when the row has no sealed value. */
  keyId: SQLWrapper;
  /** The AAD of the value. */
  place: SQL;
  /** The text whose HMAC (`mark`) finds the row; absent when the plaintext itself is that text, or no mark exists. */
  marked?(place: string, plaintext: string): string | null;
  /** The assignments of an update that replaces the value. */
  set(fresh: { keyId: SQL; ciphertext: SQL; mark: SQL }): SQL;
  /** The value's name for the person who loses it; null for a value that nobody will miss. */
  name: SQL;
  /** Clears a value that no key opens, or deletes its row if that is useless without the value. */
  drop(tx: Db, isRow: SQL, seal: (plaintext: string) => Promise<Sealed>): Promise<unknown>;
}

const ofAgent = (agentId: SQLWrapper) =>
  sql`'agent ' || (select ${agents.slug} from ${agents} where ${agents.id} = ${agentId})`;
const ofOrganization = (organizationId: SQLWrapper) =>
  sql`'organization ' || (select ${organizations.slug} from ${organizations} where ${organizations.id} = ${organizationId})`;

/** All sealed values of an installation. */
export const sealings: readonly Sealing[] = [
  {
    table: installation,
    ciphertext: installation.keyCheck,
    keyId: installation.keyCheckKeyId,
    place: sql`${keyCheckPlace}`,
    set: ({ keyId, ciphertext }) => assign(installation, { keyCheckKeyId: keyId, keyCheck: ciphertext }),
    name: sql`null`,
    drop: (tx, isRow) => tx.update(installation).set({ keyCheckKeyId: null, keyCheck: null }).where(isRow),
  },
  {
    table: installation,
    ciphertext: installation.mailRelay,
    keyId: installation.mailRelayKeyId,
    place: sql`'installation:' || ${installation.id}`,
    set: ({ keyId, ciphertext }) => assign(installation, { mailRelayKeyId: keyId, mailRelay: ciphertext }),
    name: sql`'mail relay'`,
    drop: (tx, isRow) => tx.update(installation).set({ mailRelayKeyId: null, mailRelay: null }).where(isRow),
  },
  {
    table: secrets,
    ciphertext: secrets.ciphertext,
    keyId: secrets.keyId,
    place: sql`coalesce(${secrets.agentId}, ${secrets.organizationId}) || ':' || ${secrets.key}`,
    set: ({ keyId, ciphertext }) => assign(secrets, { keyId, ciphertext }),
    name: sql`'secret ' || ${secrets.key} || ' of ' || coalesce(${ofAgent(secrets.agentId)}, ${ofOrganization(secrets.organizationId)})`,
    async drop(tx, isRow) {
      const gone = await tx.delete(secrets).where(isRow).returning({ agentId: secrets.agentId, key: secrets.key });
      const marked = gone.flatMap(({ agentId, key }) => (agentId && key === authKeyName ? [agentId] : []));
      await tx.update(agents).set({ authKeyHmac: null }).where(inArray(agents.id, marked));
    },
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
    name: sql`'settings of the channel ' || ${channels.type} || ' of ' || ${ofAgent(channels.agentId)}`,
    drop: (tx, isRow) =>
      tx
        .update(channels)
        .set({
          keyId: "",
          config: new Uint8Array(),
          accountHmac: null,
          status: null,
          lastError: null,
          // Messengers are turned off, since they need their settings. Web's key is stored elsewhere.
          enabled: sql`${channels.enabled} and ${channels.type} = 'web'`,
        })
        .where(isRow),
  },
  {
    table: providerConnections,
    ciphertext: providerConnections.ciphertext,
    keyId: providerConnections.keyId,
    place: sql`'provider_connections:' || ${providerConnections.id}`,
    set: ({ keyId, ciphertext }) => assign(providerConnections, { keyId, ciphertext }),
    name: sql`'key of the provider connection ' || ${providerConnections.name} || ' of ' || coalesce(${ofAgent(providerConnections.agentId)}, ${ofOrganization(providerConnections.organizationId)})`,
    drop: (tx, isRow) => tx.update(providerConnections).set({ keyId: null, ciphertext: null }).where(isRow),
  },
  {
    table: skillEnv,
    ciphertext: skillEnv.ciphertext,
    keyId: skillEnv.keyId,
    place: sql`${skillEnv.agentId} || ':' || ${skillEnv.skillId} || ':' || ${skillEnv.key}`,
    set: ({ keyId, ciphertext }) => assign(skillEnv, { keyId, ciphertext }),
    name: sql`'variable ' || ${skillEnv.key} || ' of the skill ' || (select ${skills.slug} from ${skills} where ${skills.id} = ${skillEnv.skillId}) || ' of ' || ${ofAgent(skillEnv.agentId)}`,
    drop: (tx, isRow) => tx.delete(skillEnv).where(isRow),
  },
  {
    table: plugins,
    ciphertext: plugins.config,
    keyId: plugins.keyId,
    place: sql`${plugins.organizationId} || ':plugin:' || ${plugins.namespace}`,
    set: ({ keyId, ciphertext }) => assign(plugins, { keyId, config: ciphertext }),
    name: sql`'plugin ' || ${plugins.namespace} || ' of ' || ${ofOrganization(plugins.organizationId)}`,
    drop: (tx, isRow) => tx.delete(plugins).where(isRow),
  },
  {
    table: eventSources,
    ciphertext: eventSources.credentials,
    keyId: eventSources.keyId,
    place: sql`${eventSources.id} || ':event-source'`,
    set: ({ keyId, ciphertext }) => assign(eventSources, { keyId, credentials: ciphertext }),
    name: sql`'webhook address of the event source ' || ${eventSources.name} || ' of ' || ${ofAgent(eventSources.agentId)}`,
    async drop(tx, isRow, seal) {
      const webhookToken = randomToken(32);
      const { keyId, ciphertext } = await seal(JSON.stringify({ webhookToken }));
      await tx
        .update(eventSources)
        .set({
          keyId,
          credentials: ciphertext,
          tokenDigest: toHex(await digest(webhookToken)),
          hasAuthKey: false,
          // Sources with a key are turned off: their senders proved themselves with the lost key.
          enabled: sql`${eventSources.enabled} and not ${eventSources.hasAuthKey}`,
        })
        .where(isRow);
    },
  },
  {
    table: jobs,
    ciphertext: sql`decode(${jobs.payload} #>> '{keys,ciphertext}', 'base64')`,
    // The keys to a bucket whose files a job deletes, a channel's former account, and the person of an erasure. In jobs
    // that failed for good nobody needs them.
    keyId: sql`case when ${jobs.kind} in ('deleteFiles', 'channel.leave', 'erasure') and ${jobs.status} = 'pending'
      then ${jobs.payload} #>> '{keys,keyId}' end`,
    place: sql`case ${jobs.kind} when 'channel.leave' then 'leave:' when 'erasure' then 'erasure:' else 'files:' end || (${jobs.payload} ->> 'batch')`,
    set({ keyId, ciphertext }) {
      const oneLine = sql`translate(encode(${ciphertext}, 'base64'), E'\\n', '')`;
      const keys = sql`jsonb_build_object('keyId', ${keyId}, 'ciphertext', ${oneLine})`;
      return assign(jobs, { payload: sql`jsonb_set(${jobs.payload}, '{keys}', ${keys})` });
    },
    name: sql`case ${jobs.kind} when 'channel.leave' then 'account of a channel that is to be left'
      when 'erasure' then 'person to be erased, whose erasure ends'
      else 'keys to files that are to be deleted, which stay where they are' end`,
    drop: (tx, isRow) => tx.delete(jobs).where(isRow),
  },
];
