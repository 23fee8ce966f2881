import { channels } from "../../../core/channels/channels.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { firstWords } from "../../conversations/index.ts";
import { firstModel, hasFastModel } from "../agent/model.ts";
import type { Begun } from "../begin.ts";
import type { Taken } from "../place/take.ts";
import type { TurnRequest } from "../request.ts";

/** The follow-up work that a stored turn needs, and those results that need no model. */
export interface Aftermath {
  /** When a model should write the conversation's title; null for never, or when an earlier turn set the time. */
  titleDueAt: Date | null;
  /**
   * When the conversation has rested long enough to be summarized and learned from. Null: unchanged, or done together
   * with the title.
   */
  followUpDueAt: Date | null;
  /** The title of an untitled conversation whose title needs no model; null when a model writes it. */
  title: string | null;
  /** Whether this turn or a later one may learn from the messages. */
  learnable: boolean;
}

interface EndedTurn {
  taken: Taken;
  request: TurnRequest;
  /** Null when the turn never ran. */
  begun: Begun | null;
  outcome: TurnOutcome;
}

/**
 * How long a conversation must be quiet before its follow-up, and how long its title waits, in milliseconds. The call
 * for the title also extracts memories from the first exchange.
 */
const [restMs, titleMs] = [30_000, 2_000];

/**
 * A background call is made only for an agent that has a fast model of its own and whose memory is on (decisions §4),
 * after a successful turn with a person, and not for replies of the demo model. The background job checks this again.
 */
export function aftermathOf({ taken, request, begun, outcome }: EndedTurn, now: number): Aftermath {
  const { agent } = taken.grant;
  const { channel, source } = request.origin;
  const learnable = hasFastModel(agent) && agent.row.memoryEnabled;
  const asks =
    learnable && source === "user" && channels[channel].learns && firstModel(taken.answering).provider !== "demo";
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
