import { channels } from "../../../core/channels/channels.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { firstWords } from "../../conversations/index.ts";
import type { Begun } from "../begin.ts";
import type { Taken } from "../place/take.ts";
import type { TurnRequest } from "../request.ts";

/** The follow-up work of a stored turn, and the results that need no model. */
export interface Aftermath {
  /** When a model is to write the conversation's title; null for never, and when an earlier turn set the time. */
  titleDueAt: Date | null;
  /**
   * When the conversation will have rested long enough to be summarized and learned from; null: unchanged, or together
   * with the title.
   */
  followUpDueAt: Date | null;
  /** The title of a conversation that has none and calls no model for one; null when a model is called. */
  title: string | null;
  /** Whether the messages may be learned from, after this turn or a later one. */
  learnable: boolean;
}

interface Ended {
  taken: Taken;
  request: TurnRequest;
  /** Null when the turn never ran. */
  begun: Begun | null;
  outcome: TurnOutcome;
}

/**
 * The rest before a follow-up, since the next messages may belong to it, and the delay of a title, whose call also
 * learns from the first exchange. In milliseconds.
 */
const [restMs, titleMs] = [30_000, 2_000];

/**
 * A background call is made only for an agent with a `fastModel` of its own whose memory is on (decisions §4), about a
 * successful turn with a person, and not about replies of the demo model. The background job checks again.
 */
export function aftermathOf({ taken, request, begun, outcome }: Ended, now: number): Aftermath {
  const { row } = taken.grant.agent;
  const { channel, source } = request.origin;
  const learnable = row.fastModel !== null && row.memoryEnabled;
  const asks = learnable && source === "user" && channels[channel].learns && taken.spec.provider !== "demo";
  const named = request.title ?? request.input.fresh.find((text) => text.trim() !== "") ?? "";
  const title = asks ? null : firstWords(named) || null;
  const follows = asks && taken.place.conversation !== null && outcome.status === "done";
  return {
    titleDueAt: follows && begun?.begins ? new Date(now + titleMs) : null,
    followUpDueAt: follows && !begun?.begins ? new Date(now + restMs) : null,
    title,
    learnable,
  };
}
