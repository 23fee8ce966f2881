import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Ctx, Services } from "../context/ctx.ts";
import { type MessengerName, messengerNames } from "../core/channels/messengers.ts";
import { type SubjectChannel, type SubjectKey, subjectKey } from "../core/channels/subjects.ts";
import { writeArray } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { readOld } from "./retained-rows.ts";

export interface ErasedAgent {
  id: string;
  slug: string;
  organizationId: string;
}

/**
 * Deletes or blanks what names the person, with statements that each stay within their deadline. May be repeated: the job
 * may end between any two transactions.
 */
export type Erase = (services: Services, person: ErasedPerson) => Promise<void>;

/** The fields by which a person's rows are found. */
export type PersonId = Pick<ErasedPerson, "channel" | "id">;

/** A person whose data is erased from some agents of an organization (managed M13). */
export interface ErasedPerson {
  organizationId: string;
  agents: readonly ErasedAgent[];
  channel: SubjectChannel;
  /** The person's id on the channel. */
  id: string;
  /** The text that stands for the person in the audit log. */
  digest: string;
  /** The author for the audit log. */
  by: Pick<Ctx, "actor" | "request">;
  /** Aborts when this process loses the job. */
  signal: AbortSignal;
  /** The ids of the conversations that stay, since they are under legal hold. */
  held: Set<string>;
}

/** The person's messenger; null for a channel that is none. */
export const messengerOf = ({ channel }: PersonId): MessengerName | null =>
  messengerNames.find((name) => name === channel) ?? null;

/** The keys by which an agent's rows name the person as their end user. */
export function subjectsOf(person: PersonId, { slug }: Pick<ErasedAgent, "slug">): SubjectKey[] {
  const { channel, id } = person;
  const key = subjectKey(channel, id);
  // Keys of earlier releases have no channel.
  if (channel === "web") return [key, id as SubjectKey];
  // A conversation to which only the agent has written so far.
  return messengerOf(person) ? [key, subjectKey("conversation", `${slug}:${channel}:${id}`)] : [key];
}

/** Whether a column names the person as the end user. */
export const isSubject = (column: PgColumn, person: PersonId, agent: Pick<ErasedAgent, "slug">): SQL =>
  isOneOf(column, subjectsOf(person, agent));

export const isOneOf = (column: PgColumn | SQL, values: readonly string[], type: "text" | "uuid" = "text"): SQL =>
  sql`${column} = any(${writeArray(values)}::${sql.raw(type)}[])`;

/** Later than every row. */
const end = new Date("9999-12-31");

/** The most rows of one transaction. */
const batchSize = 500;

interface Wanted {
  table: PgTable & { id: PgColumn };
  /** The column of an index (agent, column) along which the agent's rows are read. */
  along: PgColumn;
  agentId: string;
  /** A condition on the table. */
  where: SQL;
  /** 500 when absent. */
  size?: number;
}

/** Batches of ids of an agent's rows, read in pages along an index: no index finds a person's rows. */
export async function* batchesOf(
  db: Db,
  { signal }: { signal?: AbortSignal },
  { agentId, where, size = batchSize, ...rows }: Wanted,
): AsyncGenerator<readonly string[]> {
  for await (const ids of readOld(db, { ...rows, isOld: () => where }, { agentId, now: end, before: end })) {
    for (let start = 0; start < ids.length; start += size) {
      signal?.throwIfAborted();
      yield ids.slice(start, start + size);
    }
    signal?.throwIfAborted();
  }
}
