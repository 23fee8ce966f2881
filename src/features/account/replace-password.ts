import { and, eq, or, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { accessTokens, throttles, users } from "../../db/schema.ts";
import { passwordAttempts } from "./change-password.ts";
import { accountFailures, forgetAddresses } from "./sign-in-limits.ts";

interface NewPassword {
  passwordHash: string;
  /** The person who set the password for the user, and their organization; null when only the user knows it. */
  passwordSetBy: string | null;
  passwordOrganization: string | null;
}

/**
 * Gives a user another password, ends all sessions and forgets the failed sign-ins and the known addresses; answers how
 * many sessions ended.
 */
export async function replacePassword(tx: Db, user: { id: string; email: string }, password: NewPassword) {
  await tx
    .update(users)
    .set({ ...password, updatedAt: sql`now()` })
    .where(eq(users.id, user.id));
  const counted = `:${user.email}`;
  const signIns = sql`${throttles.key} like 'sign-in:%' and right(${throttles.key}, length(${counted}::text)) = ${counted}`;
  const forgotten = [passwordAttempts(user.id), accountFailures(user.email)].map((key) => eq(throttles.key, key));
  await tx.delete(throttles).where(or(signIns, ...forgotten));
  await forgetAddresses(tx, user.id);
  return deleteSessionsOf(tx, user.id);
}

/** Ends all sessions of a user; answers how many there were. */
export async function deleteSessionsOf(tx: Db, userId: string): Promise<number> {
  const ended = await tx
    .delete(accessTokens)
    .where(and(eq(accessTokens.kind, "session"), eq(accessTokens.userId, userId)))
    .returning({ id: accessTokens.id });
  return ended.length;
}
