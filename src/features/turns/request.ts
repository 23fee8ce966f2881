import type { DisconnectRule } from "../../turn/relay.ts";
import type { Continued, JsonObject, ModelMessage, Origin } from "../../turn/types.ts";
import type { AlongsideOf } from "./end/alongside.ts";
import type { Suspended } from "./end/record.ts";
import type { Idempotency, Opening } from "./place/open.ts";

/** The messages of a turn request. */
export interface TurnMessages {
  /** The earlier messages of a conversation that is not stored; else empty. */
  history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  fresh: readonly string[];
  /** The ids of stored files that came with `fresh`; absent for none. */
  fileIds?: readonly string[];
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
  /** The values that the call wrote to the conversation's state before the turn was taken. */
  callContext?: JsonObject | null;
  rule: DisconnectRule;
  requestId: string;
  throttle: Opening["throttle"];
  idempotency?: Idempotency | null;
  /** Rows of the door's that are written with the turn's end; absent for none. */
  alongside?: AlongsideOf;
  /** The turn that this one continues after an approval, and the decisions about its calls; absent for other turns. */
  continued?: Continued & { turnId: string; suspended: Suspended };
}
