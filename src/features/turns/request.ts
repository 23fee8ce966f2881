import type { Limit } from "../../core/limits/throttle.ts";
import type { NamedModel } from "../../core/models/fallbacks.ts";
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

/** A request that OPEN counts by `key`; `now` is in milliseconds since the epoch. */
export interface CountedCall {
  key: string;
  limit: Limit;
  now: number;
}

/** The stored part of a stopped turn that the turn after it needs. */
export interface Suspended {
  messages: readonly ModelMessage[];
  /** The user's messages. The transcript's limits may have cut them off. */
  fresh: readonly string[];
  fileIds?: readonly string[];
  /** The fields of the origin that the conversation does not store. */
  from?: Pick<Origin, "source" | "userName">;
  /** The turns of `messages`, the first one first. */
  turnIds: readonly string[];
  /** The text that hooks put before the user's message. */
  context?: string;
  /** The model whose reasoning is in `messages`; absent in turns of earlier releases. */
  answeredBy?: NamedModel;
  /** The model that replaces the agent's; absent: the agent's. */
  model?: string;
}

/** The request of a door, such as the chat API or a messenger, for a turn. */
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
  /** Whether the caller gets the reply as a whole, once it is recorded. */
  whole?: boolean;
  requestId: string;
  /** The title of an untitled conversation whose title no model writes; absent: the first words of `input`. */
  title?: string;
  throttle: CountedCall | null;
  idempotency?: Idempotency | null;
  /** The `seq` of the last message hidden from the model; absent: it sees them all. */
  historyAfter?: number;
  /** Tools of this turn in addition to the agent's; absent for none. */
  tools?: readonly Tool[];
  /** The rows that the caller writes together with the turn's end; absent for none. */
  alongside?: AlongsideOf;
  /** The turn that this one continues after an approval, and the decisions about its calls; absent for other turns. */
  continued?: Continuation & { turnId: string; suspended: Suspended };
}

/** Returns what a messenger adds to a continued turn, which starts without a request. */
export type ContinuedBy = (place: ContinuedPlace) => Promise<Pick<TurnRequest, "alongside" | "tools" | "historyAfter">>;
