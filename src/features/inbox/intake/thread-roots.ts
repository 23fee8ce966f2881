import { and, eq, gt } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { type Arrival, chatOf, type Incoming, MessengerError, type Quote } from "../../../core/channels/messengers.ts";
import { withinTime } from "../../../core/time/deadline.ts";
import { conversations } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";

/** How long this waits, in milliseconds. A messenger waits some 3 seconds for a webhook's response. */
const patienceMs = 2_000;

/**
 * Loads the first messages of threads, which arrivals only name, and returns the arrivals with them. Does nothing in a
 * conversation with messages, where the agent knows the first one. A message that can't be loaded stays unknown.
 */
export async function withThreadRoots(
  services: Services,
  channel: MessengerChannel,
  arrivals: readonly Arrival[],
): Promise<Arrival[]> {
  const asked = arrivals.map((arrival) => ("text" in arrival ? withRoot(services, channel, arrival) : arrival));
  return Promise.all(asked);
}

async function withRoot(services: Services, channel: MessengerChannel, message: Incoming): Promise<Incoming> {
  const root = message.quotes.find((quote) => isRoot(quote, message));
  if (!root || !channel.account.quoted) return message;
  const others = message.quotes.filter((quote) => quote !== root);
  if (await hasMessages(services, channel, message)) return { ...message, quotes: others };
  const found = await askFor(services, channel, message);
  if (!found) return message;
  const { files, ...said } = found;
  const quoted = files.map((file) => ({ ...file, isQuoted: true }));
  const quotes = [{ ...root, ...said, messageId: null }, ...others];
  return { ...message, quotes, files: [...message.files, ...quoted] };
}

/** The messenger's id of a thread's first message; empty outside threads. */
const rootIn = (channelId: string) => channelId.slice(chatOf(channelId).length + 1);

const isRoot = ({ messageId }: Quote, { channelId }: Incoming) => messageId !== null && messageId === rootIn(channelId);

/** Whether the agent has written in a thread. */
async function hasMessages({ database }: Services, { agent, name }: MessengerChannel, { channelId }: Incoming) {
  const isThread = eq(conversations.ref, `${agent.slug}:${name}:${channelId}`);
  const found = await database.db
    .select({ id: conversations.id })
    .from(conversations)
    .where(and(isThread, eq(conversations.agentId, agent.id), gt(conversations.messageCount, 0)));
  return found.length > 0;
}

async function askFor({ clock, log }: Services, { account, agent, name }: MessengerChannel, message: Incoming) {
  const tooLate = new MessengerError("The first message of a thread did not come in time");
  const ask = async (signal: AbortSignal) => account.quoted?.(message, rootIn(message.channelId), signal) ?? null;
  try {
    return await withinTime(clock, patienceMs, tooLate, ask);
  } catch (error) {
    const err = error instanceof MessengerError ? error.message : error;
    log.info({ agent: agent.slug, channel: name, err }, "The first message of a thread is unknown");
    return null;
  }
}
