import type { Services } from "../../../context/ctx.ts";
import { Rounds } from "../../../core/limits/rounds.ts";
import { pause } from "../../../core/time/pause.ts";
import { type Heartbeat, leaseMs } from "../../../jobs/heartbeat.ts";
import type { StoreMessages } from "../intake/store.ts";
import { type FollowedChannel, follow } from "./followed.ts";
import { claim, type LeasedChannel, release } from "./leases.ts";

/**
 * The most channels that a process takes at once while there are other processes, and the pause before it takes more,
 * in milliseconds.
 */
const [mostAtOnce, nextMs] = [16, 1_000];

/** A process that can't renew its leases stops following this long before they end, in milliseconds. */
const marginMs = 3_000;

/** How long a stop waits until received messages are stored, in milliseconds. */
const stoppingMs = 3_000;

export interface Following {
  /** Starts to follow channels. Does not wait for the first result. */
  begin(): Promise<void>;
  /** Stops following all channels. */
  stop(): Promise<void>;
}

/**
 * Follows the channels with polling or a socket (decisions §8, `transport`), each in one process at a time. Checks at
 * once after a notice of a change, and every 5 seconds, since a notice may be missed.
 */
export function createFollowing(services: Services, store: StoreMessages, heartbeat: Heartbeat): Following {
  const { database, clock, log, notify, options } = services;
  const { owner } = heartbeat;
  const followed = new Map<string, FollowedChannel>();
  const endListening: (() => void)[] = [];
  let stopping = false;
  let [cancelExpiry, cancelNext] = [() => {}, () => {}];

  /** Checks which channels this process should follow. */
  const looking = new Rounds(async () => {
    if (stopping) return;
    const now = clock.now();
    const most = options.soleProcess ? 10_000 : mostAtOnce;
    const leased = await claim(database, { owner, most });
    const before = followed.size;
    const ids = new Set(leased.map(({ id }) => id));
    for (const [id, one] of followed) if (!ids.has(id)) drop(id, one);
    if (stopping) return;
    for (const one of leased) take(one);
    cancelExpiry();
    cancelExpiry = clock.after(now + leaseMs - marginMs - clock.now(), dropAll);
    cancelNext();
    // During the pause other processes can claim their share.
    if (leased.length - before >= most) cancelNext = clock.after(nextMs, lookSoon);
  });

  const lookSoon = () => {
    if (stopping) return;
    looking.run().catch((err: unknown) => log.warn({ err }, "Channels to follow could not be looked for"));
  };

  const take = (leased: LeasedChannel) => {
    const known = followed.get(leased.id);
    if (known?.savedAt === leased.savedAt && !leased.isNew) return;
    if (known) drop(leased.id, known);
    const one = follow({ services, store, owner }, leased);
    followed.set(leased.id, one);
    one.ended.then(() => {
      if (followed.get(leased.id) === one) followed.delete(leased.id);
    });
  };

  const drop = (id: string, one: FollowedChannel) => {
    followed.delete(id);
    one.stop();
  };

  const dropAll = () => {
    for (const [id, one] of followed) drop(id, one);
  };

  const listen = () => {
    if (stopping || endListening.length > 0) return;
    endListening.push(
      notify.listen("agent-changed", (agentId) => {
        if ([...followed.values()].some((one) => one.agentId === agentId)) lookSoon();
      }),
      notify.listen("channel-started", lookSoon, lookSoon),
    );
  };

  heartbeat.add(async () => {
    listen();
    await looking.run();
  });

  return {
    async begin() {
      listen();
      lookSoon();
    },
    async stop() {
      stopping = true;
      for (const end of endListening) end();
      cancelExpiry();
      cancelNext();
      await looking.ended();
      const ending = [...followed.values()].map(({ ended }) => ended);
      dropAll();
      const over = new AbortController();
      const late = pause(clock, stoppingMs, over.signal).catch(() => {});
      await Promise.race([Promise.all(ending), late]);
      over.abort(new Error("All ended"));
      await release(database, owner).catch((err: unknown) =>
        log.warn({ err }, "Channels could not be let go: others wait for the end of their leases"),
      );
      // Other processes can claim the channels now.
      if (ending.length > 0) notify.publish("channel-started", "");
    },
  };
}
