import { channels } from "../../../core/channels/channels.ts";
import { isBlank } from "../../../core/text/text.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { type AlongsideOf, type ContinuedBy, type ContinuedPlace, endingError, wasStopped } from "../../turns/index.ts";
import { echoWork } from "./echo.ts";
import { type Destination, type Outgoing, outgoing } from "./outgoing.ts";

/** The notice to a person while a tool call waits for approval. */
const waitingNotice = "Somebody has to approve this first. You get the answer here as soon as it is decided.";

/** The notice to a person whose message can't be answered. */
export const failedNotice = "Sorry, I can't answer at the moment. Please try again later.";

/**
 * The messages to a person about a turn's outcome: the reply, the text so far of a stopped turn, or the notice that a
 * tool call waits for approval. Nothing for a failed or interrupted turn.
 */
export function repliesOf(place: Destination, outcome: TurnOutcome): Outgoing {
  if (outcome.status === "approval") return outgoing(place, joined(lastWords(outcome), waitingNotice));
  return outgoing(place, outcome.status === "done" || wasStopped(outcome) ? lastWords(outcome) : "");
}

/**
 * The rows written with a turn that continues after an approval, for a channel whose replies are sent later. Such a
 * turn runs only once, so its failure gets a notice too.
 */
export function continuedReplies({ agentId, channel, channelId }: ContinuedPlace): Awaited<ReturnType<ContinuedBy>> {
  return channels[channel].sendsLater ? { alongside: laterReplies({ agentId, channel, target: channelId }) } : {};
}

/** The rows written with a turn that runs only once and whose reply goes to a destination. */
function laterReplies(place: Destination): AlongsideOf {
  return (outcome) => ({ inboxIds: [], supersededAfter: null, ...repliesOrFailure(place, outcome) });
}

/**
 * The rows written with a turn whose reply goes to a destination outside its conversation: the reply, the text so far
 * of a stopped turn, or the notice that a tool call waits for approval. The agent's texts become part of the
 * conversation at the destination. Nothing for a failed or interrupted turn.
 */
export function repliesElsewhere(place: Destination): AlongsideOf {
  return (outcome, turnId) => {
    const { sends, work } = repliesOf(place, outcome);
    const echo = lastWords(outcome) === "" ? [] : echoWork(place, { sends }, { turnId, first: 0 });
    return { inboxIds: [], supersededAfter: null, sends, work: [...work, ...echo] };
  };
}

/**
 * Like `repliesElsewhere`, for a turn that runs only once, such as one that continues after an approval: its failure
 * gets a notice too.
 */
export function continuedElsewhere(place: Destination): AlongsideOf {
  const [reply, failure] = [repliesElsewhere(place), laterReplies(place)];
  return (outcome, turnId) => (isFailure(outcome) ? failure : reply)(outcome, turnId);
}

function repliesOrFailure(place: Destination, outcome: TurnOutcome): Outgoing {
  return isFailure(outcome) ? outgoing(place, joined(lastWords(outcome), failedNotice)) : repliesOf(place, outcome);
}

const isFailure = (outcome: TurnOutcome) => endingError(outcome) !== null && !wasStopped(outcome);

/** The text of the last step that has one: messengers don't get the texts between tool calls (decisions §5). */
const lastWords = ({ steps }: TurnOutcome) => steps.findLast(({ text }) => !isBlank(text))?.text ?? "";

const joined = (text: string, notice: string) => (isBlank(text) ? notice : `${text}\n\n${notice}`);
