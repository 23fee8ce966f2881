import { and, eq, sql } from "drizzle-orm";
import type { Incoming, Quote } from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { inbox, outbox } from "../../../db/schema.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import { readPayload } from "./payload.ts";

/** Adds the texts of quoted messages of which the messenger sends only the id. */
export async function withQuotedWords(
  tx: Db,
  channel: MessengerChannel,
  messages: readonly Incoming[],
): Promise<Incoming[]> {
  const found: Incoming[] = [];
  for (const message of messages) {
    const quotes: Quote[] = [];
    for (const quote of message.quotes) {
      const { messageId } = quote;
      quotes.push(messageId === null ? quote : { ...quote, text: await storedWords(tx, channel, message, messageId) });
    }
    found.push({ ...message, quotes });
  }
  return found;
}

/** The text of a message that the person sent or got; empty when it is no longer stored. */
async function storedWords(
  tx: Db,
  { agent, name }: MessengerChannel,
  { sender, channelId }: Incoming,
  messageId: string,
): Promise<string> {
  const isTheirs = and(eq(outbox.channel, name), eq(outbox.target, channelId));
  const isSent = and(eq(outbox.agentId, agent.id), eq(outbox.providerMessageId, messageId), isTheirs);
  const [sent] = await tx
    .select({ body: outbox.body })
    .from(outbox)
    // Written as in the index, so that the index is used.
    .where(and(isSent, sql`${outbox.providerMessageId} is not null`))
    .limit(1);
  if (sent) return sent.body;
  const isReceived = and(eq(inbox.agentId, agent.id), eq(inbox.channel, name), eq(inbox.providerId, messageId));
  const [received] = await tx
    .select({ payload: inbox.payload })
    .from(inbox)
    .where(and(isReceived, eq(inbox.sender, sender)));
  return received ? readPayload(received.payload).text : "";
}
