import type { DisconnectRule } from "../../turn/relay.ts";
import type { Continued, JsonObject, ModelMessage, Origin } from "../../turn/types.ts";
import type { Suspended } from "./end/record.ts";
import type { Idempotency, Opening } from "./place/open.ts";

/** What a turn is about. */
export interface TurnMessages {
  /** What was said before, of a conversation that is not stored; else empty. */
  history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  fresh: readonly string[];
  /** Files that came with them, stored before; absent for none. */
  fileIds?: readonly string[];
}

/** What a door asks of a turn. */
export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  /** Whether the turn belongs to a stored conversation; else nothing of it but its row is stored. */
  stored: boolean;
  /** The conversation on whose behalf this one is. */
  parentId?: string;
  input: TurnMessages;
  /** What the call wrote to the conversation's state before it asked for its turn. */
  callContext?: JsonObject | null;
  rule: DisconnectRule;
  requestId: string;
  throttle: Opening["throttle"];
  idempotency?: Idempotency | null;
  /** What a person decided about the calls at which an earlier turn of the conversation stopped. */
  continued?: Continued & { turnId: string; suspended: Suspended };
}
