import { channels } from "../../../core/channels/channels.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { firstWords } from "../../conversations/index.ts";
import type { Begun } from "../begin.ts";
import type { Taken } from "../place/take.ts";
import type { TurnRequest } from "../request.ts";

/** The follow-up work of a stored turn, and the work that it does at once instead. */
export interface Aftermath {
  /** When a model is to give the conversation its title; null: no model is, or an earlier turn said when. */
  titleDueAt: Date | null;
  /** When the conversation has rested, so that it is summed up and learned from; null: as before, or with the title. */
  followUpDueAt: Date | null;
  /** The title of a conversation that has none and asks no model for one; null when a model is asked. */
  title: string | null;
  /** Whether the messages may be learned from, after this turn or a later one. */
  learnable: boolean;
}

interface Ended {
  taken: Taken;
  request: TurnRequest;
  /** Null: the turn never ran. */
  begun: Begun | null;
  outcome: TurnOutcome;
}

/**
 * A conversation rests, since the next messages may belong to it; a title is wanted soon, and the first exchange is learned
 * from in the same call. In milliseconds.
 */
const [restMs, titleMs] = [30_000, 2_000];

/**
 * A model is asked in the background only for an agent with a `fastModel` of its own whose memory is on (decisions §4),
 * about a turn that ended well with a person, and not about what the demo model repeated. The background asks again
 * whether it still may.
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
    ...{ title, learnable },
  };
}
