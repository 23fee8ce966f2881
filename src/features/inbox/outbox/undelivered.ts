import { and, asc, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { conversations, outbox, turns } from "../../../db/schema.ts";

/** Why messages were not delivered, by the ids of their senders; without secrets. */
type Undelivered = ReadonlyMap<string, string>;

const isFailed = eq(outbox.status, "failed");
/** The first part comes first: the errors of later parts only say that an earlier one was not sent. */
const newest = [desc(outbox.createdAt), asc(outbox.part)] as const;

/** Why turns' messages were not delivered, by turn id. */
export async function undeliveredOfTurns(db: Db, ids: readonly (string | null)[]): Promise<Undelivered> {
  const { turnId: by, channel, error } = outbox;
  const wanted = ids.filter((id) => id !== null);
  if (wanted.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([by], { by, channel, error })
    .from(outbox)
    .where(and(isFailed, inArray(by, wanted)))
    .orderBy(by, ...newest);
  return asWords(rows);
}

/** Like `undeliveredOfTurns`, by the public ids of an agent's conversations. */
export async function undeliveredOf(db: Db, agentId: string, refs: readonly (string | null)[]): Promise<Undelivered> {
  const { ref: by } = conversations;
  const { channel, error } = outbox;
  const wanted = refs.filter((ref) => ref !== null);
  if (wanted.length === 0) return new Map();
  const rows = await db
    .selectDistinctOn([by], { by, channel, error })
    .from(conversations)
    .innerJoin(turns, eq(turns.conversationId, conversations.id))
    .innerJoin(outbox, and(eq(outbox.turnId, turns.id), isFailed))
    .where(and(eq(conversations.agentId, agentId), inArray(by, wanted)))
    .orderBy(by, ...newest);
  return asWords(rows);
}

const asWords = (rows: readonly { by: string | null; channel: string; error: string | null }[]): Undelivered =>
  new Map(rows.map(({ by, channel, error }) => [by ?? "", `Not delivered on ${channel}: ${error ?? "given up"}`]));
