import { and, eq, lt } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { accessTokens, oneTimeTokens } from "../../db/schema.ts";
import { deleteEndedWindows } from "../../http/throttle.ts";

/** Deletes expired sessions, one-time links and throttle windows. Expired management keys stay on their list. */
export async function tidyAccounts(services: Services): Promise<void> {
  const { database, clock } = services;
  const now = new Date(clock.now());
  await database.db.delete(accessTokens).where(and(eq(accessTokens.kind, "session"), lt(accessTokens.expiresAt, now)));
  await database.db.delete(oneTimeTokens).where(lt(oneTimeTokens.expiresAt, now));
  await deleteEndedWindows(services);
}
