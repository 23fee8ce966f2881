import { and, eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { isSamePassword } from "../../core/credentials/password.ts";
import { type Limit, requireAllowed } from "../../core/limits/throttle.ts";
import type { Db } from "../../db/client.ts";
import { users } from "../../db/schema.ts";
import { countCall, forgetCalls, uncountCall } from "../../db/throttle.ts";
import { clientKey } from "../../http/callers/address.ts";
import { invalid } from "../../http/errors.ts";
import { organizationsOf, recordEvent } from "./audit.ts";
import { deleteResetLinks } from "./reset/links.ts";
import type { PasswordChange } from "./schema.ts";
import { deleteOtherSessions } from "./sessions.ts";
import { forgetAddresses } from "./sign-in-limits.ts";
import { userOf } from "./user.ts";

/** The limit of wrong current passwords of one user: a stolen session must not be enough to guess the password. */
const guesses: Limit = { calls: 10, windowMs: 15 * 60 * 1000 };

/** The throttle key of a user's wrong current passwords. */
export const passwordAttempts = (userId: string) => `password:${userId}`;

/**
 * Sets the user's new password, ends the user's other sessions, and deletes the other known addresses and the links to
 * reset the former password. Throws the 429 after too many wrong current passwords, and the 400 for a wrong one, because
 * clients take a 401 for the end of the session.
 */
export async function changePassword(ctx: Ctx, { currentPassword, newPassword }: PasswordChange): Promise<void> {
  const { id } = userOf(ctx);
  if (isSamePassword(currentPassword, newPassword)) throw refused("newPassword", "must differ from the current one");
  const attempts = passwordAttempts(id);
  // Counted before the check, so that simultaneous attempts can't exceed the limit.
  requireAllowed(await countCall(ctx, attempts, guesses), "wrong passwords");

  const replaced = await checkAndReplace(ctx, { currentPassword, newPassword }).catch(async (error: unknown) => {
    await uncountCall(ctx, attempts);
    throw error;
  });
  if (!replaced) {
    await recordPasswordChange(ctx, ctx.db, { success: false });
    throw refused("currentPassword", "is not your current password");
  }
  await forgetCalls(ctx, attempts);
}

/** Replaces the password; returns false when the given current one is wrong. */
async function checkAndReplace(ctx: Ctx, { currentPassword, newPassword }: PasswordChange): Promise<boolean> {
  const ownRow = eq(users.id, userOf(ctx).id);
  const [user] = await ctx.db.select({ hash: users.passwordHash }).from(users).where(ownRow);
  const hash = user?.hash ?? null;
  const right = await ctx.passwords.verify(hash, currentPassword, clientKey(ctx.request.ip));
  if (!right || hash === null) return false;
  const passwordHash = await ctx.passwords.hash(newPassword);
  return ctx.database.transaction(async (tx) => {
    // Of two simultaneous changes, the later one finds another hash: its current password is outdated.
    const changed = await tx
      .update(users)
      .set({ passwordHash, passwordSetBy: null, passwordOrganization: null, updatedAt: sql`now()` })
      .where(and(ownRow, eq(users.passwordHash, hash)))
      .returning({ id: users.id });
    if (changed.length === 0) return false;
    const sessionsEnded = await deleteOtherSessions(ctx, tx);
    await forgetAddresses(tx, userOf(ctx).id, ctx.request);
    await deleteResetLinks(tx, userOf(ctx).id);
    await recordPasswordChange(ctx, tx, { summary: { sessionsEnded } });
    return true;
  });
}

async function recordPasswordChange(
  ctx: Ctx,
  db: Db,
  outcome: { success?: boolean; summary?: Record<string, unknown> },
): Promise<void> {
  const actor = userOf(ctx);
  const organizationIds = await organizationsOf(db, actor.id);
  const { request } = ctx;
  await recordEvent(db, {
    action: "password.change",
    actor,
    target: actor.email,
    request,
    organizationIds,
    ...outcome,
  });
}

const refused = (field: keyof PasswordChange, message: string) => invalid([{ path: [field], message }]);
