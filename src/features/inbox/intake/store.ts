import type { Services } from "../../../context/ctx.ts";
import type { Arrival, Incoming } from "../../../core/channels/messengers.ts";
import { type Db, sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import type { MessengerChannel } from "../../channels/index.ts";
import type { Activity } from "../activity.ts";
import { withAlbums } from "./albums.ts";
import { boundMessages } from "./backlog-bound.ts";
import { dropDeleted } from "./edits.ts";
import { knownPlace, noteMoved } from "./moved.ts";
import { type IntakeResult, storeIn } from "./store-in.ts";
import type { TellArrived } from "./tell.ts";
import { withThreadRoots } from "./thread-roots.ts";

/**
 * Stores messages and other arrivals, and enqueues their answer, in one transaction. Skips messages that are stored
 * already, and all of them while the agent or its channel is off (decisions §4). Throws `BacklogFull` without storing
 * anything; the messenger then sends them again.
 */
export type StoreMessages = (channel: MessengerChannel, arrivals: readonly Arrival[]) => Promise<void>;

interface Dependencies {
  services: Services;
  activity: Activity;
  tell: TellArrived;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
}

/** The time between two log lines about dropped messages of one agent, in milliseconds. */
const toldEveryMs = 60_000;

export function createStore({ services, activity, tell, wake }: Dependencies): StoreMessages {
  const { database, notify, clock, log } = services;
  const boundBacklog = boundMessages(services);
  /** The time of the last log line, by agent id. */
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
  return async (channel, arrivals) => {
    if (arrivals.length === 0) return;
    activity.received(channel.agent.id, channel.name);
    // A followed channel was opened long ago, so its copy of the agent may be outdated.
    const isDropped = channel.transport === "webhook" && !channel.agent.active;
    if (!isDropped) await boundBacklog(channel.agent, arrivals.filter(isMessage).length);
    const whole = isDropped ? arrivals : await withThreadRoots(services, channel, arrivals);
    const work = () => database.transaction((tx) => storeAll(tx, services, channel, whole));
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

/** Drops messages for an agent that is being deleted. */
function unlessGone(error: unknown): IntakeResult[] {
  if (sqlState(error) !== "23503") throw error;
  return [];
}

const isMessage = (arrival: Arrival): arrival is Incoming => "text" in arrival;

async function storeAll(
  tx: Db,
  services: Services,
  channel: MessengerChannel,
  arrivals: readonly Arrival[],
): Promise<IntakeResult[]> {
  const { agent, name } = channel;
  const of = { agentId: agent.id, slug: agent.slug, channel: name };
  for (const arrival of arrivals) if ("movedTo" in arrival) await noteMoved(tx, of, arrival);
  const messages = await withAlbums(tx, channel, arrivals.filter(isMessage));
  const said = Map.groupBy(messages, ({ channelId }) => channelId);
  const groups: [string, Incoming[]][] = [];
  for (const [place, group] of said) groups.push([await knownPlace(tx, of, place), group]);
  const taken: IntakeResult[] = [];
  // Always in this order, since each conversation is locked.
  for (const [channelId, group] of groups.sort(([a], [b]) => (a < b ? -1 : 1))) {
    taken.push(await storeIn(tx, services, channel, channelId, group));
  }
  for (const arrival of arrivals) if ("deletes" in arrival) await dropDeleted(tx, channel, arrival);
  return taken;
}
