import { scrubbedPreview } from "../../core/activity/preview.ts";
import { TtlCache } from "../../core/cache.ts";
import { MessengerError } from "../../core/channels/messengers.ts";
import type { Clock } from "../../core/ports.ts";
import type { LoadScrub, Scrub } from "../../core/scrub/scrub.ts";
import { oneLine, storable } from "../../core/text/text.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { textOf } from "./fields.ts";

/** The options of every messenger account. */
export interface AccountOptions {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** A `fetch` for addresses in the messenger's responses: it reaches only public ones and the messenger's own. */
  outside: typeof globalThis.fetch;
  identities: Identities;
  /** Removes the account's credentials from a text. */
  scrub: Scrub;
  /** Returns a text of the messenger for use in an error message. */
  words: ShownText;
  /** The address of the messenger's API, without a trailing slash. */
  base: string;
}

/** In milliseconds. People rarely change the names of bots. */
const ttlMs = 3_600_000;

/** How long a webhook waits for a name, in milliseconds: its sender needs a response soon. */
const patienceMs = 2_500;

/**
 * Returns the names by which bots are mentioned, each requested at most once an hour. `ask` is called only for an
 * unknown name; calls at the same time share one request.
 */
type Identities = (key: string, ask: (signal: AbortSignal) => Promise<string>) => Promise<string>;

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

/** A text of the messenger for use in an error message: one short line without secrets. */
export type ShownText = (value: unknown) => Promise<string>;

/** Makes `ShownText`; the texts are empty when the secrets can't be loaded. */
export function wordsBy(loadScrub: LoadScrub): ShownText {
  return async (value) => {
    const text = textOf(value);
    if (text === "") return "";
    const scrub = await loadScrub().catch(() => null);
    return scrub === null ? "" : oneLine(scrubbedPreview(storable(text), scrub), 300);
  };
}
