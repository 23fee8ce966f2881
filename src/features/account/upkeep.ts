import { and, eq, lt } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { accessTokens, oneTimeTokens, signInAddresses } from "../../db/schema.ts";
import { deleteEndedWindows } from "../../http/callers/throttle.ts";
import { knownAddressMs } from "./sign-in-limits.ts";

/** Deletes expired sessions, one-time links, throttle windows, and addresses without a sign-in for 90 days. Expired management keys stay on their list. */
export async function tidyAccounts(services: Services): Promise<void> {
  const { database, clock } = services;
  const now = new Date(clock.now());
  await database.db.delete(accessTokens).where(and(eq(accessTokens.kind, "session"), lt(accessTokens.expiresAt, now)));
  await database.db.delete(oneTimeTokens).where(lt(oneTimeTokens.expiresAt, now));
  const forgotten = new Date(clock.now() - knownAddressMs);
  await database.db.delete(signInAddresses).where(lt(signInAddresses.usedAt, forgotten));
  await deleteEndedWindows(services);
}
