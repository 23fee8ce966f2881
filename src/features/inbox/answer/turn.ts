import type { Services } from "../../../context.ts";
import { channelOf } from "../../../core/channels/channels.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import {
  type AlongsideOf,
  type TurnRequest,
  type Turns,
  type Unattended,
  type WatchedTools,
  wasStopped,
  watchTools,
} from "../../turns/index.ts";
import { placeNow } from "../intake/moved.ts";
import { subjectOf } from "../intake/subject.ts";
import { outgoing } from "../outbox/outgoing.ts";
import { failedNotice, repliesOf } from "../outbox/replies.ts";
import type { Attach } from "./attachments.ts";
import { type Batch, onlyName } from "./batch.ts";
import type { Arrivals } from "./newer.ts";
import type { Pending } from "./pending.ts";
import { saidTexts } from "./said.ts";
import { showTyping } from "./typing.ts";
import { answerJob } from "./work.ts";

interface Needs {
  services: Services;
  turns: Turns;
  attach: Attach;
}

/** What one turn is to answer. */
interface Attempt {
  pending: Pending;
  batch: Batch;
  channel: MessengerChannel;
  arrivals: Arrivals;
  /** The job's. */
  signal: AbortSignal;
}

/**
 * Takes the turn that answers a batch, to its end. Newer messages supersede it while that costs nothing: until a tool or
 * a hook ran, and as often as the agent allows. Throws the refusals before the turn.
 */
export async function takeAnswer({ services, turns, attach }: Needs, attempt: Attempt): Promise<Unattended> {
  const { pending, batch, channel, arrivals, signal } = attempt;
  const { agent, conversation } = pending;
  const { maxRestarts, typingDelayMs } = services.policies.values;
  const attached = await attach({ agent, conversation, account: channel.account }, batch.messages, signal);
  signal.throwIfAborted();
  const watched = watchTools();
  const restarts = Math.max(...pending.messages.map((message) => message.restarts));
  const mayRestart = () => restarts < (agent.maxRestarts ?? maxRestarts) && !watched.begun();
  const request: TurnRequest = {
    ...requestOf(attempt),
    input: {
      history: [],
      fresh: saidTexts(batch.messages, attached.texts),
      ...(attached.fileIds.length > 0 ? { fileIds: attached.fileIds } : {}),
    },
    alongside: alongsideOf(services, attempt, watched, mayRestart),
  };
  const { account } = channel;
  const { name } = channel;
  const channelId = await placeNow(services.database.db, { agentId: agent.id, channel: name }, conversation.channelId);
  const typing = { account, channelId, delayMs: agent.typingDelayMs ?? typingDelayMs };
  return turns.takeUnattended(agent.slug, request, {
    signal,
    watched,
    begun(turn) {
      arrivals.hear(() => {
        if (mayRestart()) turn.abort("superseded");
      });
      return showTyping(services.clock, typing);
    },
  });
}

function requestOf({ pending: { conversation }, batch, channel }: Attempt): Omit<TurnRequest, "input"> {
  const { ref, channelId } = conversation;
  const [first] = batch.messages;
  const userName = onlyName(batch.messages);
  return {
    door: "inbox",
    ref,
    stored: true,
    origin: {
      ...{ channel: channelOf(conversation.channel), channelId, source: "user", depth: 0 },
      subject: subjectOf({ channel: channel.name, ref }, first),
      ...(userName === null ? {} : { userName }),
    },
    rule: "always-finish",
    requestId: first.id,
    throttle: null,
  };
}

/** What is written with the end of the turn: its messages are answered and the reply goes out, or nothing happened. */
function alongsideOf(
  { clock }: Services,
  { pending, batch }: Attempt,
  watched: WatchedTools,
  mayRestart: () => boolean,
): AlongsideOf {
  const { agent, conversation, lastSeq } = pending;
  const place = { agentId: agent.id, channel: channelOf(conversation.channel), target: conversation.channelId };
  return (outcome) => {
    const failed = outcome.status === "failed";
    const isInterrupted = outcome.status === "aborted" && !wasStopped(outcome);
    // The messages are answered again, unless that would call tools once more.
    if (isInterrupted || (failed && !watched.acted())) {
      return { inboxIds: [], sends: [], work: [], supersededAfter: null, discarded: true };
    }
    const { sends, work } = failed ? outgoing(place, failedNotice) : repliesOf(place, outcome);
    const rest = batch.leaves ? [answerJob.of({ conversationId: conversation.id }, new Date(clock.now()))] : [];
    const supersededAfter = !wasStopped(outcome) && mayRestart() ? lastSeq : null;
    return { inboxIds: batch.ids, sends, work: [...work, ...rest], supersededAfter };
  };
}
