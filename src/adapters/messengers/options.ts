import type { Clock } from "../../core/ports.ts";
import type { Scrub } from "../../core/scrub/scrub.ts";
import type { Identities } from "./identity.ts";
import type { Words } from "./words.ts";

/** The options of every messenger account. */
export interface AccountOptions {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** A `fetch` for addresses in the messenger's responses: reaches public ones and the messenger's own only. */
  outside: typeof globalThis.fetch;
  identities: Identities;
  /** Removes the account's credentials from a text. */
  scrub: Scrub;
  /** Returns the messenger's own text for an error message. */
  words: Words;
  /** The address of the messenger's API, without a trailing slash. */
  base: string;
}
