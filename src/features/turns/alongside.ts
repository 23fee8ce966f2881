import { type Column, type SQL, sql, type Table } from "drizzle-orm";
import type { Channel } from "../../core/channels/channels.ts";
import { newId } from "../../core/ids.ts";
import { storableJson } from "../../core/text/text.ts";
import { assign, insertInto, type JsonRow, jsonRows } from "../../db/fragments.ts";
import { conversations, inbox, jobs, outbox, turns } from "../../db/schema.ts";
import type { Values } from "../../db/statement.ts";
import { type NewJob, replaceWaiting } from "../../jobs/enqueue.ts";
import type { TurnOutcome } from "../../turn/types.ts";

/** A part of a reply for the outbox. */
interface OutgoingPart {
  channel: string;
  /** The messenger's target of the part. */
  target: string;
  body: string;
}

/** A messenger's rows that RECORD writes together with the turn: all of both, or nothing. */
export interface Alongside {
  /** Rows of the inbox that the turn answers: they become `done`. */
  inboxIds: readonly string[];
  /** The reply's parts, in order. */
  sends: readonly OutgoingPart[];
  /** Jobs that send them. */
  work: readonly NewJob[];
  /**
   * The last `inbox.seq` that the turn has read. If a newer message exists, nothing of the turn is stored, and it ends
   * as `superseded` (decisions §8, "Bursts"). Null for a turn that was restarted often enough to be no longer
   * superseded.
   */
  supersededAfter: number | null;
  /** Only the turn's row is stored, since a later turn answers its messages. */
  discarded?: boolean;
}

/** Writes no messenger rows. */
export const nothing: Alongside = { inboxIds: [], sends: [], work: [], supersededAfter: null };

/** Returns the rows to write for the outcome of a turn. */
export type AlongsideOf = (outcome: TurnOutcome, turnId: string) => Alongside;

/** Where the reply of a turn that continues after an approval is sent. */
export interface ContinuedPlace {
  /** The turn that waited for approval. */
  turnId: string;
  agentId: string;
  /** The public id of the conversation. */
  ref: string;
  channel: Channel;
  channelId: string;
}

/** The outcome of a turn that newer messages superseded. */
export function superseded(outcome: TurnOutcome): TurnOutcome {
  return { ...outcome, status: "aborted", reason: "superseded" };
}

/** The values of RECORD with rows of a messenger; lists of rows are JSON. */
export const alongsideTypes = {
  inboxIds: "uuid[]",
  sends: "jsonb",
  work: "jsonb",
  supersededAfter: "int | null",
} as const;

type AlongsideValues = Values<typeof alongsideTypes & { turnId: "uuid" }>;

export const alongsideValues = ({ inboxIds, sends, work, supersededAfter }: Alongside) => ({
  inboxIds,
  sends: storableJson(sends.map((send, part): JsonRow<typeof sendShape> => ({ ...send, part, id: newId() }))),
  work: storableJson(
    work.map((job): JsonRow<typeof workShape> => ({ ...job, id: newId(), runAt: job.runAt.toISOString() })),
  ),
  supersededAfter,
});

/**
 * Whether newer messages supersede the turn. A message stored after this statement began belongs to the next turn. A
 * message that no longer waits was answered by another turn, or its person wants no answer.
 */
export function isSuperseded({ turnId, supersededAfter, inboxIds }: AlongsideValues): SQL<boolean> {
  const newer = sql`${turns.id} = ${turnId} and ${conversations.lastInboxSeq} > ${supersededAfter}`;
  const settled = sql`${inbox.id} = any(${inboxIds}) and ${inbox.status} <> 'pending'`;
  return sql<boolean>`exists (
    select 1 from ${turns} join ${conversations} on ${conversations.id} = ${turns.conversationId} where ${newer}
  ) or exists (select 1 from ${inbox} where ${settled})`;
}

const sendShape = {
  id: outbox.id,
  part: outbox.part,
  channel: outbox.channel,
  target: outbox.target,
  body: outbox.body,
} as const;

const workShape = {
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  payload: jobs.payload,
  runAt: jobs.runAt,
} as const;

/** The tables of RECORD that contain the turn and its conversation. */
interface ClosedTurn {
  turn: Table & Record<"agentId" | "organizationId", Column>;
  conversation: Table & Record<"id", Column>;
}

/** Parts of RECORD: the messages that the turn answered are done, and the reply's parts and their jobs are stored. */
export function alongsideParts(
  { turnId, inboxIds, sends, work }: AlongsideValues,
  { turn, conversation }: ClosedTurn,
): SQL {
  const part = jsonRows(sends, "part", sendShape);
  const job = jsonRows(work, "job", workShape);
  const answered = { status: "done", turnId, attempts: sql`${inbox.attempts} + 1` };
  const sent = { ...part.row, agentId: turn.agentId, conversationId: conversation.id, turnId };
  const enqueued = { ...job.row, organizationId: turn.organizationId };
  // Nothing is sent in a conversation that was deleted meanwhile.
  return sql`
    answered as (
      update ${inbox} set ${assign(inbox, answered)} from ${turn}
      where ${inbox.id} = any(${inboxIds}) and ${inbox.agentId} = ${turn.agentId}
    ),
    sent as (${insertInto(outbox, sent)} from ${turn}, ${conversation}, ${part.table}),
    work as (${insertInto(jobs, enqueued)} from ${turn}, ${conversation}, ${job.table} ${replaceWaiting})`;
}
