import type { Services } from "../../../context/ctx.ts";
import { channelOf } from "../../../core/channels/channels.ts";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { type MessengerChannel, openMessenger } from "../../channels/index.ts";
import { type Attempt, giveUp, isStored, type TurnRequest, wasStopped, watchTools } from "../../turns/index.ts";
import { placeNow } from "../intake/moved.ts";
import { subjectOf } from "../intake/subject.ts";
import { outgoing } from "../outbox/outgoing.ts";
import { failedNotice, repliesOf } from "../outbox/replies.ts";
import type { Attach } from "./attachments.ts";
import { type Batch, onlyName } from "./batch.ts";
import type { Arrivals } from "./newer.ts";
import type { PendingConversation } from "./pending.ts";
import { saidTexts } from "./said.ts";
import { showTyping, type Typing } from "./typing.ts";
import { answerJob } from "./work.ts";

interface Dependencies {
  services: Services;
  attach: Attach;
}

/** The messages that one turn is to answer. */
interface ToAnswer {
  pending: PendingConversation;
  batch: Batch;
  arrivals: Arrivals;
  /** The job's signal. */
  signal: AbortSignal;
}

/** The most attempts at messages before they are given up. */
const mostAttempts = 10;

/**
 * The attempt to answer a batch. Newer messages supersede its turn, as often as the agent allows, but not after a tool
 * or a hook ran.
 */
export function answerAttempt({ services, attach }: Dependencies, toAnswer: ToAnswer): Attempt {
  const { pending, batch, arrivals, signal } = toAnswer;
  const { agent, conversation, lastSeq } = pending;
  const { maxRestarts, typingDelayMs } = services.policies.values;
  const [first] = batch.messages;
  const watched = watchTools();
  const restarts = Math.max(...pending.messages.map((message) => message.restarts));
  const mayRestart = () => restarts < (agent.maxRestarts ?? maxRestarts) && !watched.begun();
  let typing: Typing | null = null;
  return {
    slug: agent.slug,
    tries: { tried: first.attempts + 1, most: mostAttempts, items: batch.messages.length, losesNothing: true },
    signal,
    about: { agent: agent.slug, channel: conversation.channel, conversationId: conversation.id, requestId: first.id },
    async request() {
      const channel = await openChannel(services, pending);
      if (!channel) return giveUp("off", "The channel is off");
      const { account, name } = channel;
      const attached = await attach({ agent, conversation, account }, batch.messages, signal);
      const at = await placeNow(services.database.db, { agentId: agent.id, channel: name }, conversation.channelId);
      typing = { account, channelId: at, delayMs: agent.typingDelayMs ?? typingDelayMs };
      const input = { history: [], fresh: saidTexts(batch.messages, attached.texts) };
      const files = attached.fileIds.length > 0 ? { fileIds: attached.fileIds } : {};
      return { ...requestOf(toAnswer, channel), input: { ...input, ...files } };
    },
    watched,
    begun(turn) {
      arrivals.hear(() => {
        if (mayRestart()) turn.abort("superseded");
      });
      return typing ? showTyping(services.clock, typing) : () => {};
    },
    /** RECORD writes that the messages are answered, together with the reply, or nothing. */
    alongside(outcome, _turnId, end) {
      if (!isStored(end)) return null;
      const place = { agentId: agent.id, channel: channelOf(conversation.channel), target: conversation.channelId };
      const { sends, work } = outcome.status === "failed" ? outgoing(place, failedNotice) : repliesOf(place, outcome);
      const rest = answerJob.of({ conversationId: conversation.id }, new Date(services.clock.now()));
      return {
        inboxIds: batch.ids,
        sends,
        work: batch.leaves ? [...work, rest] : work,
        supersededAfter: !wasStopped(outcome) && mayRestart() ? lastSeq : null,
      };
    },
  };
}

/** Null for a disabled or deleted channel. */
async function openChannel(
  services: Services,
  { agent, conversation }: PendingConversation,
): Promise<MessengerChannel | null> {
  const name = messengerNames.find((known) => known === conversation.channel);
  const channel = name ? await openMessenger(services, { id: agent.id }, name) : null;
  return channel?.enabled ? channel : null;
}

function requestOf(
  { pending: { conversation }, batch }: ToAnswer,
  channel: MessengerChannel,
): Omit<TurnRequest, "input"> {
  const { ref, channelId } = conversation;
  const [first] = batch.messages;
  const userName = onlyName(batch.messages);
  return {
    door: "inbox",
    ref,
    stored: true,
    origin: {
      channel: channelOf(conversation.channel),
      channelId,
      source: "user",
      depth: 0,
      subject: subjectOf({ channel: channel.name, ref }, first),
      ...(userName === null ? {} : { userName }),
    },
    rule: "always-finish",
    requestId: first.id,
    throttle: null,
  };
}
