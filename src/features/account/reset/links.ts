import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { publicAddress } from "../../../context/ctx.ts";
import type { Db } from "../../../db/client.ts";
import { oneTimeTokens } from "../../../db/schema.ts";
import { issueToken } from "../one-time-tokens.ts";

/** How long a link works, in minutes. */
export const linkMinutes = 30;

/** Makes a link to reset a user's password. Its token is nowhere else: it is stored as a digest. */
export async function makeResetLink(services: Services, userId: string): Promise<string> {
  const lifeMs = linkMinutes * 60_000;
  const token = await issueToken(services, services.database.db, { kind: "reset", lifeMs, payload: { userId } });
  // A browser sends the part after `#` to no server, so the token is in no log of a proxy.
  return `${publicAddress(services)}/reset#token=${token}`;
}

/** Deletes the unused links of a user whose password was changed. */
export async function deleteResetLinks(tx: Db, userId: string): Promise<void> {
  const ofUser = sql`${oneTimeTokens.payload} ->> 'userId' = ${userId}`;
  await tx.delete(oneTimeTokens).where(and(eq(oneTimeTokens.kind, "reset"), ofUser));
}
