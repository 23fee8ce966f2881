import type { Services } from "../../../context/ctx.ts";
import { chatOf, type Incoming, namesPerson } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import { answerJob } from "../answer/work.ts";
import { appendRoot } from "../outbox/echo.ts";
import { takeOverTold } from "../outbox/named-person.ts";
import { withoutSameEdits } from "./edits.ts";
import { heedKeywords } from "./opt-out.ts";
import { payloadOf } from "./payload.ts";
import { withQuotedWords } from "./quoted-words.ts";
import { lockConversation, storeNew } from "./statements.ts";
import { subjectOf } from "./subject.ts";

interface StoredMessages {
  conversationId: string;
  ref: string;
  said: readonly Incoming[];
  /** When the messages are answered. */
  answerAt: Date;
  /** Whether to send one of the engine's own notices. */
  sends: boolean;
}

/** `known`: everything was stored before; `dropped`: the agent is off or deleted. */
export type IntakeResult = StoredMessages | "known" | "dropped";

/** In milliseconds. The parts of an album arrive one by one, so an album waits this long even without a debounce. */
const albumMs = 1_500;

/** When messages are answered: after the debounce, and at most ten times as long (at least 10 s) after the first. */
function answerTimes(now: number, debounceMs: number, said: readonly Incoming[]) {
  const waitMs = said.some(({ album }) => album !== null) ? Math.max(debounceMs, albumMs) : debounceMs;
  return { runAt: new Date(now + waitMs), latest: new Date(now + Math.max(10 * debounceMs, 10_000)) };
}

/** Stores the messages of one conversation, which is locked until the commit. */
export async function storeIn(
  tx: Db,
  { clock, policies }: Services,
  channel: MessengerChannel,
  channelId: string,
  came: readonly Incoming[],
): Promise<IntakeResult> {
  const { id: agentId, slug } = channel.agent;
  const refOf = (id: string) => `${slug}:${channel.name}:${id}`;
  const ref = refOf(channelId);
  const [first] = came;
  const subject = first ? subjectOf({ channel: channel.name, ref }, first) : subjectKey("conversation", ref);
  const locked = await lockConversation(tx, { agentId, channel: channel.name, channelId, ref, subject });
  if (!locked) return "dropped";
  const { id: conversationId, lastInboxSeq, receiver } = locked;
  const changed = await withoutSameEdits(tx, conversationId, came);
  if (changed.length === 0) return "known";
  const said = await withQuotedWords(tx, channel, changed);
  if (first && lastInboxSeq === 0) {
    const { sender, isPrivate, providerId } = first;
    const chat = chatOf(channelId);
    const root = channelId.slice(chat.length + 1);
    // Only in a private chat: messages to the person are not for the readers of a group.
    const told = isPrivate && namesPerson(channel.name, sender) ? refOf(sender) : null;
    if (root === "" && told !== null) await takeOverTold(tx, { agentId, conversationId, told });
    // A message with the thread's own id is the first one of the thread.
    if (root !== "" && providerId !== channelId) {
      const chats = told === null ? [refOf(chat)] : [refOf(chat), told];
      await appendRoot(tx, { agentId, conversationId, root, chats });
    }
  }
  const debounceMs = receiver.debounceMs ?? policies.values.debounceMs;
  const { runAt, latest } = answerTimes(clock.now(), debounceMs, said);
  const messages = said.map((message, index) => ({
    id: newId(),
    providerId: message.providerId,
    seq: lastInboxSeq + 1 + index,
    sender: message.sender,
    payload: payloadOf(message),
    message,
  }));
  const { ids, answerAt } = await storeNew(tx, {
    agentId,
    organizationId: receiver.organizationId,
    channel: channel.name,
    conversationId,
    messages: messages.map(({ message: _, ...row }) => row),
    work: answerJob.of({ conversationId, latest: latest.toISOString() }, runAt),
  });
  const stored = messages.filter(({ id }) => ids.has(id));
  const sends = await heedKeywords(tx, { channel, receiver, conversationId }, stored);
  if (!answerAt) return "known";
  return { conversationId, ref, said: stored.map(({ message }) => message), answerAt, sends };
}
