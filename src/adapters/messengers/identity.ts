import { TtlCache } from "../../core/cache.ts";
import { MessengerError } from "../../core/channels/messengers.ts";
import type { Clock } from "../../core/ports.ts";
import { withinTime } from "../../core/time/deadline.ts";

/** People rarely change the names of bots. */
const ttlMs = 3_600_000;

/** A webhook waits no longer than this for a name, since its sender needs a response soon. */
const patienceMs = 2_500;

/**
 * Returns the names by which bots are mentioned, requested once an hour for each bot. `ask` is called only for an
 * unknown name; simultaneous calls share one request.
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
