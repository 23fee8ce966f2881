import { TtlCache } from "../../core/cache.ts";
import { MessengerError } from "../../core/channels/messengers.ts";
import type { Clock } from "../../core/ports.ts";
import { withinTime } from "../../core/time/deadline.ts";

/** Names of bots change by hand, and rarely. */
const ttlMs = 3_600_000;

/** A webhook waits no longer for a name than this: its caller wants an answer soon. */
const patienceMs = 2_500;

/**
 * The names by which bots are mentioned, asked for once an hour and a bot. `ask` is only called for a name that is not
 * known; calls at the same time wait for one answer.
 */
export type Identities = (key: string, ask: (signal: AbortSignal) => Promise<string>) => Promise<string>;

export function identities(clock: Clock): Identities {
  const known = new TtlCache<Promise<string>>({ ttlMs, limit: 1_000, now: () => clock.now() });
  return (key, ask) => {
    const found = known.get(key);
    if (found) return found.value;
    const asked = withinTime(clock, patienceMs, new MessengerError("The bot's name did not come in time"), ask);
    known.set(key, asked);
    asked.catch(() => {
      if (known.get(key)?.value === asked) known.delete(key);
    });
    return asked;
  };
}
