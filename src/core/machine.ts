import type { Check } from "./check.ts";

/** The installation's policies that the checks of a machine depend on; null where they are not set. */
interface CheckedPolicies {
  publicAddress: string | null;
  defaultModel: string | null;
}

/** The machine and the settings that a server runs with, as far as somebody may see them. */
export interface Machine {
  /** The host of the database; null for the embedded one. */
  databaseHost: string | null;
  /** The checks that come before and after those of the database. Never rejects. */
  examine(policies: CheckedPolicies): Promise<{ before: Check[]; after: Check[] }>;
  /** A text of a check without the settings' secrets and without what could not be seen. */
  scrub(text: string): string;
}

/** A machine of which nothing is known. */
export const unexamined: Machine = {
  databaseHost: null,
  examine: async () => ({ before: [], after: [] }),
  scrub: (text) => text,
};
