import { channels } from "../../../core/channels.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { type AlongsideOf, type ContinuedPlace, endingError, wasStopped } from "../../turns/index.ts";
import { type Outgoing, outgoing, type Place } from "./outgoing.ts";

/** What a person reads when a turn waits for somebody's decision. */
const waitingNotice = "Somebody has to approve this first. You get the answer here as soon as it is decided.";

/** What a person reads whose message can't be answered. */
export const failedNotice = "Sorry, I can't answer at the moment. Please try again later.";

/**
 * What a person at a place is sent for the outcome of a turn: the reply, what was said before somebody stopped it, or that
 * a decision is waited for. Nothing for a turn that failed or was interrupted.
 */
export function repliesOf(place: Place, outcome: TurnOutcome): Outgoing {
  if (outcome.status === "approval") return outgoing(place, joined(lastWords(outcome), waitingNotice));
  return outgoing(place, outcome.status === "done" || wasStopped(outcome) ? lastWords(outcome) : "");
}

/**
 * What is written with a turn that continues after a decision, for a channel whose replies are sent later. Such a turn is
 * taken once, so its failure is told too.
 */
export function continuedReplies({ agentId, channel, channelId }: ContinuedPlace): AlongsideOf | undefined {
  if (!channels[channel].sendsLater) return undefined;
  const place = { agentId, channel, target: channelId };
  return (outcome) => ({ inboxIds: [], supersededAfter: null, ...repliesOrFailure(place, outcome) });
}

function repliesOrFailure(place: Place, outcome: TurnOutcome): Outgoing {
  const hasFailed = endingError(outcome) !== null && !wasStopped(outcome);
  return hasFailed ? outgoing(place, joined(lastWords(outcome), failedNotice)) : repliesOf(place, outcome);
}

/** The text of the last step that has one: what the model says between tools is not for messengers (decisions §5). */
const lastWords = ({ steps }: TurnOutcome) => steps.findLast(({ text }) => text.trim() !== "")?.text ?? "";

const joined = (text: string, notice: string) => (text.trim() === "" ? notice : `${text}\n\n${notice}`);
