import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { MessengerName } from "../../../core/channels/messengers.ts";
import type { Database } from "../../../db/client.ts";
import { assign } from "../../../db/fragments.ts";
import { agents, channels } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { hasLapsed, leaseUntil } from "../../../jobs/heartbeat.ts";

/** A channel that this process follows. */
export interface LeasedChannel {
  id: string;
  agentId: string;
  slug: string;
  name: MessengerName;
  /** The time at which the channel was saved. Settings that were opened before are outdated. */
  savedAt: string;
  /** Whether the lease is a new one: since the last lease the channel was started again. */
  isNew: boolean;
}

interface Claim {
  /** The id of this process. */
  owner: string;
  /** The most channels to take. */
  most: number;
}

/** Renews a process's leases and takes free channels. Returns all channels that it follows now. */
export async function claim(database: Database, claimed: Claim): Promise<LeasedChannel[]> {
  const rows = await claimStatement.run(database, claimed);
  return rows.map(({ name, ...row }) => ({ ...row, name: name as MessengerName }));
}

/** Ends all leases of a process. */
export async function release(database: Database, owner: string): Promise<void> {
  await releaseStatement.run(database, { owner });
}

interface FollowingState extends Pick<LeasedChannel, "id" | "savedAt"> {
  owner: string;
  status: "running" | "failing";
  lastError: string | null;
  now: Date;
}

/** Stores the state of following a channel, if the process still follows it. */
export async function note(database: Database, noted: FollowingState): Promise<void> {
  await noteStatement.run(database, noted);
}

/** Whether processes should follow a channel. A channel that was never started has no transport. */
const isFollowed = sql`${channels.enabled} and ${channels.transport} <> 'webhook'`;

const claimStatement = statement({ owner: "uuid", most: "int" }, ({ owner, most }) => {
  const free = alias(channels, "free");
  const slug = sql`(select ${agents.slug} from ${agents} where ${agents.id} = ${channels.agentId})`;
  const isFree = sql`${channels.id} in (select ${free.id} from ${free})`;
  const isMine = sql`${channels.followedBy} = ${owner} and ${isFollowed}`;
  // A process checks after each notice of a change, and need not write a lease that it renewed a moment ago.
  const isFresh = sql`${channels.followedUntil} > ${leaseUntil} - interval '2 seconds'`;
  const row = sql`
    ${channels.id}, ${channels.agentId} as "agentId", ${slug} as slug, ${channels.type} as name, ${channels.updatedAt}::text as "savedAt"`;
  // A process that can't renew its leases stops following before they end, so a lease that ran out is free.
  return sql<{ id: string; agentId: string; slug: string; name: string; savedAt: string; isNew: boolean }>`
    with ${free} as (
      select ${channels.id} from ${channels}
      where ${isFollowed} and ${channels.followedBy} is distinct from ${owner}
        and (${channels.followedUntil} is null or ${hasLapsed(channels.followedUntil)})
      order by ${channels.followedUntil} nulls first limit ${most}
      for no key update skip locked
    ), mine as (
      update ${channels} set ${assign(channels, { followedBy: owner, followedUntil: leaseUntil })}
      where ${isFree} or (${isMine} and not ${isFresh})
      returning ${row}, ${isFree} as "isNew"
    )
    select * from mine
    union all
    select ${row}, false from ${channels} where ${isMine} and ${isFresh}`;
});

const releaseStatement = statement({ owner: "uuid" }, ({ owner }) => {
  const freed = { followedBy: null, followedUntil: null };
  return sql`update ${channels} set ${assign(channels, freed)} where ${channels.followedBy} = ${owner}`;
});

const noteTypes = {
  id: "uuid",
  owner: "uuid",
  savedAt: "timestamptz",
  status: "text",
  lastError: "text | null",
  now: "timestamptz",
} as const;

const noteStatement = statement(noteTypes, ({ id, owner, savedAt, status, lastError, now }) => {
  const errorSince = sql`case when ${lastError}::text is not null then coalesce(${channels.errorSince}, ${now}) end`;
  return sql`
    update ${channels} set ${assign(channels, { status, lastError, errorSince })}
    where ${channels.id} = ${id} and ${channels.followedBy} = ${owner} and ${channels.updatedAt} = ${savedAt} and ${isFollowed}`;
});
