import type { Channel } from "../../core/channels/channels.ts";
import type { NewJob } from "../../jobs/enqueue.ts";
import type { TurnOutcome } from "../../turn/types.ts";

/** A part of a reply for the outbox. */
interface OutgoingPart {
  channel: string;
  /** The messenger's target of the part. */
  target: string;
  body: string;
}

/** Messenger rows written in the statement that records their turn, together with all of the turn or not at all. */
export interface Alongside {
  /** Rows of the inbox that the turn answers: they become `done`. */
  inboxIds: readonly string[];
  /** The reply's parts, in order. */
  sends: readonly OutgoingPart[];
  /** Jobs that send them. */
  work: readonly NewJob[];
  /**
   * The last `inbox.seq` that the turn knows, when newer messages may supersede it: then nothing of the turn is stored,
   * and it ends as `superseded` (decisions §8, "Bursts"). Null when they may not, since the turn was restarted often
   * enough.
   */
  supersededAfter: number | null;
  /** Only the turn's row is stored: a later turn answers its messages. */
  discarded?: boolean;
}

/** No rows are written. */
export const nothing: Alongside = { inboxIds: [], sends: [], work: [], supersededAfter: null };

/** Returns the rows to write for the outcome of a turn. */
export type AlongsideOf = (outcome: TurnOutcome, turnId: string) => Alongside;

/** The destination of the reply of a turn that continues after an approval. */
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
