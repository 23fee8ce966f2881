import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context.ts";
import { MessengerError, type MessengerName, messengerNames, type Transport } from "../../../core/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { channels } from "../../../db/schema.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { loadPolicies } from "../../installation/index.ts";
import { type ChannelStatus, isChannel } from "../row.ts";
import { type FoundMessenger, findMessenger } from "./account.ts";

/** The kind of the jobs that start channels: the messenger takes the credentials and is told where to deliver. */
export const startKind = "channel.start";

const Payload = z.object({ agentId: z.string(), name: z.enum(messengerNames) });

/** A messenger that is away for longer is one that nobody is waiting for. With the pauses, these take a day. */
const maxAttempts = 100;

/** Other processes put a changed public address into force within 10 seconds. */
const addressMs = 5_000;

/** Has a channel started once `tx` is committed. */
export async function enqueueStart(
  tx: Db,
  agent: { id: string; organizationId?: string },
  name: MessengerName,
): Promise<void> {
  const { id: agentId, organizationId } = agent;
  const owner = organizationId === undefined ? {} : { organizationId };
  await enqueue(tx, startKind, { agentId, name }, { key: `${agentId}:${name}`, maxAttempts, ...owner });
}

/** Starts a channel, and notes on it how that went. A refusal that stays is noted only; others are tried again. */
export function createStart(services: Services): JobHandler {
  return async ({ payload }, signal) => {
    const { agentId, name } = Payload.parse(payload);
    const found = await findMessenger(services, { id: agentId }, name);
    if (!found?.channel.enabled) return;
    if (found.registeredAddress !== publicAddress(services)) return waitForAddress(services);
    const { account, webhook, transport } = found.channel;
    try {
      const { ok, message } = await account.prove(signal);
      if (!ok) throw new MessengerError(message, { isPermanent: true });
      await account.register(webhook, signal);
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      const { message, isPermanent, retryAfterMs } = error;
      await note(services, found, { status: "failing", lastError: message });
      services.log.warn({ agent: found.channel.agent.slug, channel: name, reason: message }, "A channel did not start");
      if (isPermanent) return;
      throw retryAfterMs === null ? error : new Postponed(message, services.clock.now() + retryAfterMs);
    }
    await note(services, found, { ...startedBy(transport), lastError: null, transport });
    services.notify.publish("channel-started", agentId);
  };
}

/** A channel whose messages have to be asked for is started by who follows it: anew, if somebody does already. */
const startedBy = (transport: Transport) =>
  transport === "webhook"
    ? ({ status: "running" } as const)
    : ({ status: "starting", followedBy: null, followedUntil: null } as const);

/** The channel was saved, or is to move, under an address that is not in force here: either will be soon. */
async function waitForAddress(services: Services): Promise<never> {
  await loadPolicies(services);
  throw new Postponed("The public address is changing", services.clock.now() + addressMs);
}

interface Noted {
  status: ChannelStatus;
  lastError: string | null;
  transport?: Transport;
  followedBy?: null;
  followedUntil?: null;
}

/** Changes nothing when the channel was saved meanwhile, which has it started anew. */
async function note({ database }: Services, { channel, savedAt }: FoundMessenger, noted: Noted): Promise<void> {
  await database.db
    .update(channels)
    .set(noted)
    .where(
      and(
        isChannel(channel.agent.id, channel.name),
        eq(channels.enabled, true),
        sql`${channels.updatedAt} = ${savedAt}::timestamptz`,
      ),
    );
}
