import { and, eq } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { isPast } from "../../db/age.ts";
import { accessTokens, oneTimeTokens, signInAddresses } from "../../db/schema.ts";
import { deleteEndedWindows } from "../../http/callers/throttle.ts";
import { knownAddressMs } from "./sign-in-limits.ts";

/** Deletes expired sessions, one-time links, throttle windows, and addresses without a sign-in for 90 days. Expired management keys stay on their list. */
export async function tidyAccounts(services: Services): Promise<void> {
  const { database, clock } = services;
  const now = clock.now();
  const isSession = eq(accessTokens.kind, "session");
  await database.db.delete(accessTokens).where(and(isSession, isPast(accessTokens.expiresAt, now)));
  await database.db.delete(oneTimeTokens).where(isPast(oneTimeTokens.expiresAt, now));
  await database.db.delete(signInAddresses).where(isPast(signInAddresses.usedAt, now, knownAddressMs));
  await deleteEndedWindows(services);
}
