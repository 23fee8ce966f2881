import type { Check } from "./check.ts";

/** The policies that the machine's checks depend on; null when unset. */
interface CheckedPolicies {
  publicAddress: string | null;
  defaultModel: string | null;
}

/** The server's machine and settings, as far as people may see them. */
export interface Machine {
  /** The host of the database; null for the embedded one. */
  databaseHost: string | null;
  /** Runs the checks to list before and after those of the database. Never rejects. */
  examine(policies: CheckedPolicies): Promise<{ before: Check[]; after: Check[] }>;
  /** Removes the settings' secrets from a check's text, and escapes invisible characters. */
  scrub(text: string): string;
}

/** A machine whose state is unknown. */
export const unexamined: Machine = {
  databaseHost: null,
  examine: async () => ({ before: [], after: [] }),
  scrub: (text) => text,
};
