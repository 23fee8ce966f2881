import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { publicAddress, type Services } from "../../../context/ctx.ts";
import {
  MessengerError,
  type MessengerName,
  messengerNames,
  type Transport,
} from "../../../core/channels/messengers.ts";
import type { Db } from "../../../db/client.ts";
import { channels } from "../../../db/schema.ts";
import type { JobKinds } from "../../../jobs/attempt.ts";
import { defineJob } from "../../../jobs/define.ts";
import { enqueue } from "../../../jobs/enqueue.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { loadPolicies } from "../../installation/index.ts";
import { type ChannelStatus, isChannel, withError } from "../row.ts";
import { type FoundMessenger, findMessenger, type MessengerChannel } from "./account.ts";

/** Starts a channel: checks its credentials and registers the webhook at the messenger. */
export const startJob = defineJob(
  "channel.start",
  z.object({ agentId: z.string(), name: z.enum(messengerNames) }),
  ({ agentId, name }) => `${agentId}:${name}`,
);

/** With their pauses these attempts take a day; after that nobody waits for the messenger any more. */
const maxAttempts = 100;

/** In milliseconds. Other processes apply a changed public address within 10 seconds. */
const addressMs = 5_000;

/** Enqueues a channel's start, to run after the commit of `tx`. */
export async function enqueueStart(
  tx: Db,
  agent: { id: string; organizationId?: string },
  name: MessengerName,
): Promise<void> {
  const { id: agentId, organizationId } = agent;
  await enqueue(tx, startJob.of({ agentId, name }), { organizationId, maxAttempts });
}

/** Starts a channel, and stores the result in its row. Retries after failures, but not after a permanent refusal. */
export function startJobs(services: Services): JobKinds {
  const { clock, log, notify } = services;
  return startJob.doneBy(async ({ payload: { agentId, name } }, signal) => {
    const found = await findMessenger(services, { id: agentId }, name);
    if (!found?.enabled) return;
    if (found.registeredAddress !== publicAddress(services)) return waitForAddress(services);
    try {
      const { account, webhook, transport } = whole(found);
      const { ok, message } = await account.prove(signal);
      if (!ok) throw new MessengerError(message, { isPermanent: true });
      await account.register(webhook, signal);
      await note(services, found, name, { ...startedBy(transport), lastError: null, transport });
      notify.publish("channel-started", agentId);
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      const { message, isPermanent, retryAfterMs } = error;
      await note(services, found, name, { status: "failing", lastError: message });
      log.warn({ agent: found.agent.slug, channel: name, reason: message }, "A channel did not start");
      if (isPermanent) return;
      throw retryAfterMs === null ? error : new Postponed(message, clock.now() + retryAfterMs);
    }
  });
}

/** The status after a start. With polling or a socket, the process that follows the channel finishes the start. */
const startedBy = (transport: Transport) =>
  transport === "webhook"
    ? ({ status: "running" } as const)
    : ({ status: "starting", followedBy: null, followedUntil: null } as const);

/** Under another public address a channel may have another transport, whose settings it lacks. */
function whole({ channel, missing: [lacks] }: FoundMessenger): MessengerChannel {
  if (channel) return channel;
  const message = `The channel lacks ${lacks?.path.at(-1)} for the way its messages come now: send it, or name a transport`;
  throw new MessengerError(message, { isPermanent: true });
}

/** The channel is to start with a public address that this process does not use yet. */
async function waitForAddress(services: Services): Promise<never> {
  await loadPolicies(services);
  throw new Postponed("The public address is changing", services.clock.now() + addressMs);
}

interface StartResult {
  status: ChannelStatus;
  lastError: string | null;
  transport?: Transport;
  followedBy?: null;
  followedUntil?: null;
}

/** Changes nothing when the channel was saved meanwhile: the save starts it again. */
async function note(
  { database, clock }: Services,
  { agent, savedAt }: FoundMessenger,
  name: MessengerName,
  { lastError, ...noted }: StartResult,
): Promise<void> {
  await database.db
    .update(channels)
    .set({ ...noted, ...withError(lastError, clock.now()) })
    .where(
      and(isChannel(agent.id, name), eq(channels.enabled, true), sql`${channels.updatedAt} = ${savedAt}::timestamptz`),
    );
}
