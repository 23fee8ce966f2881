import type { Services } from "../../../context.ts";
import { chatOf, type Incoming, namesPerson } from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import type { Db } from "../../../db/client.ts";
import { sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import type { Activity } from "../activity.ts";
import { answerWork } from "../answer/work.ts";
import { appendRoot } from "../outbox/echo.ts";
import { takeOverTold } from "../outbox/named-person.ts";
import { withoutSameEdits } from "./edits.ts";
import { letInMessages } from "./let-in.ts";
import { heedKeywords } from "./opt-out.ts";
import { payloadOf } from "./payload.ts";
import { lockConversation, storeNew } from "./statements.ts";
import { subjectOf } from "./subject.ts";
import type { TellArrived } from "./tell.ts";

/**
 * Stores messages and arranges their answer, in one transaction. What is stored already is left out, and everything
 * while the agent or its channel is off (decisions §4). Throws `TooManyWait`, with nothing stored: they are not
 * acknowledged then, and come again.
 */
export type StoreMessages = (channel: MessengerChannel, messages: readonly Incoming[]) => Promise<void>;

interface Needs {
  services: Services;
  activity: Activity;
  tell: TellArrived;
  /** Says that a job is due at a time, in milliseconds since the epoch, or now. */
  wake(at?: number): void;
}

/** How often the log tells that messages of an agent were dropped, in milliseconds. */
const toldEveryMs = 60_000;

interface Stored {
  conversationId: string;
  ref: string;
  said: readonly Incoming[];
  /** When the answer begins. */
  answerAt: Date;
  /** Whether a notice of the engine's own is to be sent. */
  sends: boolean;
}

/** `known`: nothing of it is new; `dropped`: nobody is there to answer. */
type Taken = Stored | "known" | "dropped";

export function createStore({ services, activity, tell, wake }: Needs): StoreMessages {
  const { database, notify, clock, log } = services;
  const letIn = letInMessages(services);
  /** When the log last told of an agent, by its id. */
  const told = new Map<string, number>();
  const tellDropped = ({ agent, name }: MessengerChannel) => {
    const now = clock.now();
    if (now < (told.get(agent.id) ?? 0) + toldEveryMs) return;
    told.set(agent.id, now);
    log.info(
      { agent: agent.slug, channel: name },
      "Messages were dropped: the agent is inactive, or its channel was turned off",
    );
  };
  return async (channel, messages) => {
    if (messages.length === 0) return;
    activity.received(channel.agent.id, channel.name);
    // A channel that is followed was opened long ago: its agent may be active by now.
    const isDropped = channel.transport === "webhook" && !channel.agent.active;
    if (!isDropped) await letIn(channel.agent, messages.length);
    const work = () => database.transaction((tx) => storeAll(tx, services, channel, messages));
    const taken = await unlessDeadlocked(work).catch(unlessGone);
    if (taken.includes("dropped")) tellDropped(channel);
    const stored = taken.filter((one) => typeof one === "object");
    for (const { conversationId, ref, said, answerAt, sends } of stored) {
      tell({ slug: channel.agent.slug, channel: channel.name, ref, said });
      notify.publish("inbox", conversationId);
      if (sends) wake();
      wake(answerAt.getTime());
    }
  };
}

/** An agent that is deleted at this moment gets no messages any more. */
function unlessGone(error: unknown): Taken[] {
  if (sqlState(error) !== "23503") throw error;
  return [];
}

async function storeAll(
  tx: Db,
  services: Services,
  channel: MessengerChannel,
  messages: readonly Incoming[],
): Promise<Taken[]> {
  const groups = [...Map.groupBy(messages, ({ channelId }) => channelId)];
  const taken: Taken[] = [];
  // In one order, since each conversation is locked.
  for (const [channelId, said] of groups.sort(([a], [b]) => (a < b ? -1 : 1))) {
    taken.push(await storeIn(tx, services, channel, channelId, said));
  }
  return taken;
}

async function storeIn(
  tx: Db,
  { clock, policies }: Services,
  channel: MessengerChannel,
  channelId: string,
  came: readonly Incoming[],
): Promise<Taken> {
  const { id: agentId, slug } = channel.agent;
  const refOf = (id: string) => `${slug}:${channel.name}:${id}`;
  const ref = refOf(channelId);
  const [first] = came;
  const subject = first ? subjectOf({ channel: channel.name, ref }, first) : subjectKey("conversation", ref);
  const locked = await lockConversation(tx, { agentId, channel: channel.name, channelId, ref, subject });
  if (!locked) return "dropped";
  const { id: conversationId, lastInboxSeq, receiver } = locked;
  const said = await withoutSameEdits(tx, conversationId, came);
  if (said.length === 0) return "known";
  if (first && lastInboxSeq === 0) {
    const { sender, isPrivate, providerId } = first;
    const chat = chatOf(channelId);
    const root = channelId.slice(chat.length + 1);
    // What was said at a place of the person's id is not for the readers of a group.
    const told = isPrivate && namesPerson(channel.name, sender) ? refOf(sender) : null;
    if (root === "" && told !== null) await takeOverTold(tx, { agentId, conversationId, told });
    // A message whose own id is the thread's begins it.
    if (root !== "" && providerId !== channelId) {
      const chats = told === null ? [refOf(chat)] : [refOf(chat), told];
      await appendRoot(tx, { agentId, conversationId, root, chats });
    }
  }
  const answerAt = new Date(clock.now() + (receiver.debounceMs ?? policies.values.debounceMs));
  const messages = said.map((message, index) => ({
    ...{ id: newId(), providerId: message.providerId, seq: lastInboxSeq + 1 + index, sender: message.sender },
    ...{ payload: payloadOf(message), message },
  }));
  const ids = await storeNew(tx, {
    ...{ agentId, organizationId: receiver.organizationId, channel: channel.name, conversationId },
    messages: messages.map(({ message: _, ...row }) => row),
    work: answerWork(conversationId, answerAt),
  });
  const stored = messages.filter(({ id }) => ids.has(id));
  const sends = await heedKeywords(tx, { channel, receiver, conversationId }, stored);
  if (stored.length === 0) return "known";
  return { conversationId, ref, said: stored.map(({ message }) => message), answerAt, sends };
}
