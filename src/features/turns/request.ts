import type { Limit } from "../../core/limits/throttle.ts";
import type { CallOfTurn } from "../../turn/observers.ts";
import type { DisconnectRule } from "../../turn/relay.ts";
import type { Continuation, JsonObject, ModelMessage, Origin, Tool } from "../../turn/types.ts";
import type { AlongsideOf, ContinuedPlace } from "./alongside.ts";

/** The messages of a turn request. */
interface TurnMessages {
  /** The earlier messages of an unstored conversation; otherwise empty. */
  history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  fresh: readonly string[];
  /** The ids of stored files in `fresh`; absent for none. */
  fileIds?: readonly string[];
}

/** Identifies a repeated request. */
export interface Idempotency {
  key: string;
  /** SHA-256 of the raw body, in hexadecimal. */
  digest: string;
}

/** A request that the opening of the turn counts; `now` is in milliseconds since the epoch. */
export interface CountedCall {
  key: string;
  limit: Limit;
  now: number;
}

/** The stored remainder of a stopped turn, for the turn that continues it. */
export interface Suspended {
  messages: readonly ModelMessage[];
  /** The user's messages, which the transcript's limits may hide. */
  fresh: readonly string[];
  fileIds?: readonly string[];
  /** The parts of the origin that the conversation does not store. */
  from?: Pick<Origin, "source" | "userName">;
  /** The turns of `messages`, the first one first. */
  turnIds: readonly string[];
  /** The hooks' text before the user's message. */
  context?: string;
  /** The model that replaces the agent's; absent: the agent's. */
  model?: string;
}

/** A door's request for a turn. */
export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  /** Whether the turn belongs to a stored conversation; otherwise only its row is stored. */
  stored: boolean;
  /** The id of the conversation in which an agent called this one. */
  parentId?: string;
  input: TurnMessages;
  /** The tool call of another agent's turn that makes this request; absent for none. */
  askedBy?: CallOfTurn;
  /** The model that replaces the agent's, alone or as `provider:model`; absent: the agent's. */
  model?: string;
  /** The values that the request writes to the conversation's state before its turn opens. */
  callContext?: JsonObject | null;
  rule: DisconnectRule;
  /** Whether the caller gets the reply only once it is recorded. */
  whole?: boolean;
  requestId: string;
  /** The title of an untitled conversation when no model writes titles; absent: the first words of `input`. */
  title?: string;
  throttle: CountedCall | null;
  idempotency?: Idempotency | null;
  /** The `seq` of the last message hidden from the model; absent: it sees them all. */
  historyAfter?: number;
  /** Tools of this turn besides the agent's; absent for none. */
  tools?: readonly Tool[];
  /** The door's rows written with the turn's end; absent for none. */
  alongside?: AlongsideOf;
  /** The turn that this one continues after an approval, and the decisions about its calls; absent for other turns. */
  continued?: Continuation & { turnId: string; suspended: Suspended };
}

/** Returns the doors' additions to a continued turn, which no request to a door starts. */
export type ContinuedBy = (place: ContinuedPlace) => Promise<Pick<TurnRequest, "alongside" | "tools" | "historyAfter">>;
