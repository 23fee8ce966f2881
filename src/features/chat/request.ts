import type { DisconnectRule } from "../../turn/relay.ts";
import type { JsonObject, Origin, Resumed } from "../../turn/types.ts";
import type { ChatInput } from "./input.ts";
import type { Idempotency, Opening } from "./open.ts";
import type { Suspended } from "./record.ts";

/** What a door asks of a turn. */
export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  /** The conversation on whose behalf this one is. */
  parentId?: string;
  input: ChatInput;
  /** What it wrote to the conversation's state before it asked for its turn. */
  context?: JsonObject | null;
  rule: DisconnectRule;
  requestId: string;
  throttle: Opening["throttle"];
  idempotency?: Idempotency | null;
  /** What a person decided about the calls at which an earlier turn of the conversation stopped. */
  resumed?: Resumed & { turnId: string; suspended: Suspended };
}
