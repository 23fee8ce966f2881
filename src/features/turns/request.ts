import type { Limit } from "../../core/limits/throttle.ts";
import type { CallOfTurn } from "../../turn/observers.ts";
import type { DisconnectRule } from "../../turn/relay.ts";
import type { Continued, JsonObject, ModelMessage, Origin, Tool } from "../../turn/types.ts";
import type { AlongsideOf, ContinuedPlace } from "./alongside.ts";

/** The messages of a turn request. */
interface TurnMessages {
  /** The earlier messages of a conversation that is not stored; else empty. */
  history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  fresh: readonly string[];
  /** The ids of stored files that came with `fresh`; absent for none. */
  fileIds?: readonly string[];
}

/** Identifies a repeated request. */
export interface Idempotency {
  key: string;
  /** SHA-256 of the body as it came, in hexadecimal. */
  digest: string;
}

/** A call that the opening of the turn counts; `now` is in milliseconds since the epoch. */
export interface CountedCall {
  key: string;
  limit: Limit;
  now: number;
}

/** The stored remainder of a turn that stopped for a decision, for the turn that continues it. */
export interface Suspended {
  messages: readonly ModelMessage[];
  /** The messages of the user, which the transcript's limits may hide. */
  fresh: readonly string[];
  fileIds?: readonly string[];
  /** The parts of the origin that the conversation does not store. */
  from?: Pick<Origin, "source" | "userName">;
  /** The turns that `messages` belong to, the first one first. */
  turnIds: readonly string[];
  /** Text of hooks that the model read before the user's message. */
  context?: string;
  /** The model in place of the agent's; absent: the agent's. */
  model?: string;
}

/** A door's request for a turn. */
export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  /** Whether the turn belongs to a stored conversation; else only its row is stored. */
  stored: boolean;
  /** The id of the conversation in which an agent asked this one. */
  parentId?: string;
  input: TurnMessages;
  /** The call of another agent's turn that asks; absent for none. */
  askedBy?: CallOfTurn;
  /** The model in place of the agent's, alone or as `provider:model`; absent: the agent's. */
  model?: string;
  /** The values that the call writes to the conversation's state before its turn opens. */
  callContext?: JsonObject | null;
  rule: DisconnectRule;
  /** The caller gets the reply whole, once it is recorded. */
  whole?: boolean;
  requestId: string;
  /** The title of a conversation without one, where no model writes titles; absent: the first words of `input`. */
  title?: string;
  throttle: CountedCall | null;
  idempotency?: Idempotency | null;
  /** The `seq` of the last message that the model does not see any more; absent: it sees them all. */
  historyAfter?: number;
  /** The tools of this turn beside the agent's; absent for none. */
  tools?: readonly Tool[];
  /** Rows of the door's that are written with the turn's end; absent for none. */
  alongside?: AlongsideOf;
  /** The turn that this one continues after an approval, and the decisions about its calls; absent for other turns. */
  continued?: Continued & { turnId: string; suspended: Suspended };
}

/** Gives what the doors add to a continued turn, which no call to a door takes. */
export type ContinuedBy = (place: ContinuedPlace) => Promise<Pick<TurnRequest, "alongside" | "tools" | "historyAfter">>;
