import { and, asc, eq, or, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { randomToken } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { accessTokens, members, throttles, users } from "../../db/schema.ts";
import { organizationsOf, recordEvent } from "./audit.ts";
import { passwordAttempts } from "./change-password.ts";
import { deleteResetLinks } from "./reset/links.ts";
import { endImpersonations } from "./sessions.ts";
import { accountFailures, forgetAddresses } from "./sign-in-limits.ts";

interface NewPassword {
  passwordHash: string;
  /** The person who set the password for the user, with their organization; null when only the user knows it. */
  passwordSetBy: string | null;
  passwordOrganization: string | null;
}

/**
 * Replaces a user's password, ends all sessions and deletes the failed sign-ins, the known addresses and the links to
 * reset the former password, and personal tokens if somebody else chose the new one; returns the number of ended sessions.
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
  await deleteResetLinks(tx, user.id);
  // The account may have another holder from now on.
  if (password.passwordSetBy !== null) {
    await tx.delete(accessTokens).where(and(eq(accessTokens.kind, "personal"), eq(accessTokens.userId, user.id)));
  }
  return deleteSessionsOf(tx, user.id);
}

/** Ends all sessions of a user, and the impersonations by and of the user; returns the number of sessions. */
export async function deleteSessionsOf(tx: Db, userId: string): Promise<number> {
  const ended = await tx
    .delete(accessTokens)
    .where(and(eq(accessTokens.kind, "session"), eq(accessTokens.userId, userId)))
    .returning({ id: accessTokens.id });
  // After the sessions, whose locks an impersonation in the making holds.
  await endImpersonations(tx, userId);
  return ended.length;
}

export interface PasswordReset {
  email: string;
  password: string;
  sessionsEnded: number;
}

/**
 * Sets a generated password, which only this result contains, ends all sessions of the user and deletes the failed
 * sign-ins (decisions §1, "Rescue"). Throws a 404 for an unknown e-mail.
 */
export async function resetPassword({ database, passwords }: Services, given: string): Promise<PasswordReset> {
  const email = given.trim().toLowerCase();
  const password = randomToken(12);
  const passwordHash = await passwords.hash(password);
  return database.transaction(async (tx) => {
    const [user] = await tx.select({ id: users.id }).from(users).where(eq(users.email, email));
    if (!user) throw await unknownUser(tx, email);
    const own = { passwordHash, passwordSetBy: null, passwordOrganization: null };
    const sessionsEnded = await replacePassword(tx, { id: user.id, email }, own);
    await recordEvent(tx, {
      action: "password.reset",
      actor: null,
      target: email,
      request: { id: "command-line", ip: "" },
      organizationIds: await organizationsOf(tx, user.id),
    });
    return { email, password, sessionsEnded };
  });
}

/** The 404 for an e-mail without a user. It names the owners, so it is only for a person on the server's machine. */
export async function unknownUser(tx: Db, email: string): Promise<EngineError> {
  const owners = await tx
    .selectDistinct({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.roleKey, "owner"))
    .orderBy(asc(users.email))
    .limit(3);
  const hint =
    owners.length === 0
      ? "nobody owns this installation yet; the server prints a link for its first owner when it starts"
      : `owned by ${owners.map((owner) => owner.email).join(", ")}`;
  return new EngineError("not-found", `No user has the e-mail ${email} (${hint})`);
}
