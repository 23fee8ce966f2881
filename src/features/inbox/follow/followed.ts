import type { Services } from "../../../context/ctx.ts";
import { MessengerError } from "../../../core/channels/messengers.ts";
import { BacklogFull } from "../../../core/limits/backlog-bound.ts";
import { pause } from "../../../core/time/pause.ts";
import { type MessengerChannel, openMessenger } from "../../channels/index.ts";
import type { StoreMessages } from "../intake/store.ts";
import { type LeasedChannel, note } from "./leases.ts";

/** The pauses after failures, in milliseconds: the first, the longest, and that after a permanent refusal. */
const [firstPauseMs, longestPauseMs, refusedPauseMs] = [1_000, 60_000, 5 * 60_000];

interface Options {
  services: Services;
  store: StoreMessages;
  /** The id of this process. */
  owner: string;
}

/** A channel that this process follows. */
export interface FollowedChannel {
  agentId: string;
  savedAt: string;
  stop(): void;
  /** Resolves when nothing more is requested or stored. */
  ended: Promise<void>;
}

/** Receives a channel's messages and stores them, until it is stopped or the channel should no longer be followed. */
export function follow(options: Options, leased: LeasedChannel): FollowedChannel {
  const controller = new AbortController();
  const { log } = options.services;
  const ended = keepFollowing(options, leased, controller.signal).catch((err: unknown) => {
    if (controller.signal.aborted) return;
    log.error({ agent: leased.slug, channel: leased.name, err }, "A channel is not followed any more");
  });
  const { agentId, savedAt } = leased;
  return { agentId, savedAt, stop: () => controller.abort(new Error("The channel is let go")), ended };
}

async function keepFollowing(options: Options, leased: LeasedChannel, signal: AbortSignal): Promise<void> {
  const { services, store } = options;
  const { agentId, name } = leased;
  const channel = await openMessenger(services, { id: agentId }, name);
  if (!channel?.enabled || !channel.account.follow) return;
  const state = stateOf(options, leased, channel);
  const take = async (arrivals: Parameters<StoreMessages>[1]) => {
    try {
      await store(channel, arrivals);
    } catch (err) {
      const told = { agent: channel.agent.slug, channel: name, err };
      // `BacklogFull` has its own log line, once a minute for all channels.
      if (!(err instanceof BacklogFull)) services.log.warn(told, "Messages could not be stored: they come again");
      throw err;
    }
  };
  for (let failures = 0; !signal.aborted; failures += 1) {
    const onConnected = () => {
      failures = 0;
      if (!signal.aborted) state.running();
    };
    try {
      await channel.account.follow(take, signal, onConnected);
    } catch (error) {
      signal.throwIfAborted();
      const ms = state.failing(error) ?? Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10));
      await pause(services.clock, ms, signal);
    }
  }
}

/** Stores the channel's state each time it changes. */
function stateOf({ services, owner }: Options, { id, savedAt }: LeasedChannel, { agent, name }: MessengerChannel) {
  const { database, clock, log } = services;
  let noted: string | null | undefined;
  let writing = Promise.resolve();
  const write = (lastError: string | null) => {
    if (noted === lastError) return;
    noted = lastError;
    const status = lastError === null ? "running" : "failing";
    // One write after the other, so that the last one wins.
    writing = writing
      .then(() => note(database, { id, savedAt, owner, status, lastError, now: new Date(clock.now()) }))
      .catch((err: unknown) => {
        noted = undefined;
        log.warn({ agent: agent.slug, channel: name, err }, "The state of a channel could not be noted");
      });
    if (lastError !== null)
      log.warn({ agent: agent.slug, channel: name, reason: lastError }, "A channel is not reached");
  };
  return {
    running: () => write(null),
    /** Returns the pause before a retry, in milliseconds; null for the usual pause. */
    failing(error: unknown): number | null {
      const known = error instanceof MessengerError ? error : null;
      if (!known) log.error({ agent: agent.slug, channel: name, err: error }, "Following a channel failed");
      write(known?.message ?? "The messenger could not be asked for messages; the server's log says why");
      return known?.retryAfterMs ?? (known?.isPermanent ? refusedPauseMs : null);
    },
  };
}
