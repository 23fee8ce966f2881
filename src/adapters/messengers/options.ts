import type { Clock } from "../../core/ports.ts";
import type { Scrub } from "../../core/scrub/scrub.ts";
import type { Identities } from "./identity.ts";
import type { Words } from "./words.ts";

/** The options of every messenger account. */
export interface AccountOptions {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** For addresses that the messenger's answers name: reaches public ones and the messenger's own only. */
  outside: typeof globalThis.fetch;
  identities: Identities;
  /** Takes the account's credentials out of a text. */
  scrub: Scrub;
  /** The messenger's own words for an error text. */
  words: Words;
  /** The address of the messenger's API, without a slash at its end. */
  base: string;
}
