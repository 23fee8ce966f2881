import { eq, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { write } from "../../context/write.ts";
import { type Changes, changesBetween } from "../../core/changes.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { type Db, sqlState } from "../../db/client.ts";
import { accessTokens, invitations, users } from "../../db/schema.ts";
import { deleteResetLinks, endImpersonations, nameOf, replacePassword, setPlatformAdmin } from "../account/index.ts";
import { findUser } from "./find.ts";
import type { NewUser, User, UserChanges } from "./schema.ts";
import { requireSuccessors } from "./successors.ts";
import { type Account, writeUser } from "./write.ts";

/**
 * Creates an account without a membership; its password counts as chosen by the caller. Throws the 409 for a taken
 * e-mail.
 */
export async function createUser(ctx: Ctx, { password, ...input }: NewUser): Promise<User> {
  const { email, name = nameOf(email), isPlatformAdmin = false, active = true } = input;
  // Hashed before the transaction begins, because hashing is slow and the transaction holds locks.
  const passwordHash = await ctx.passwords.hash(password);
  const account = { id: newId(), email, name, isPlatformAdmin, active };
  const summary = { userId: account.id, isPlatformAdmin, active };
  const change = { action: "user.create", target: email, summary, logs: () => [null], agentUnchanged: true };
  await unlessTaken(email, () =>
    write(ctx, change, async (tx) => {
      await tx.insert(users).values({ ...account, passwordHash, passwordSetBy: ctx.actor.id });
    }),
  );
  return { ...account, organizations: [] };
}

/**
 * Changes what is given. An inactive user's tokens and invitations end, and a changed e-mail or password ends the links to reset the
 * password. Throws 404 for the user; 409 for a taken e-mail, for the last Platform Admin, for the last Owner of an
 * organization, and for the caller's own password.
 */
export async function updateUser(ctx: Ctx, id: string, { password, ...fields }: UserChanges): Promise<User> {
  const passwordHash = password === undefined ? undefined : await hashFor(ctx, id, password);
  const changes: Changes = {};
  const change = { action: "user.update", changes };
  await unlessTaken(fields.email ?? "", () =>
    writeUser(ctx, id, change, async (tx, user) => {
      const { email = user.email, name = user.name, active = user.active, isPlatformAdmin } = fields;
      Object.assign(changes, changesBetween(user, fields));
      if (passwordHash !== undefined) {
        changes.password = { from: null, to: "(changed)" };
        await setPassword(tx, ctx, user, passwordHash);
      }
      if (isPlatformAdmin !== undefined) await setPlatformAdmin(tx, user.id, isPlatformAdmin);
      if (user.active && !active) await deactivate(tx, user);
      if (email !== user.email) await deleteResetLinks(tx, user.id);
      if (Object.keys(changes).length === 0) return;
      await tx.update(users).set({ email, name, active, updatedAt: sql`now()` }).where(eq(users.id, user.id));
    }),
  );
  return findUser(ctx.db, id);
}

/** Ends what an account can do without a sign-in: its tokens, its impersonations, and the invitations that it sent. */
async function deactivate(tx: Db, user: Account): Promise<void> {
  await requireSuccessors(tx, user);
  await tx.delete(accessTokens).where(eq(accessTokens.userId, user.id));
  await endImpersonations(tx, user.id);
  await tx.delete(invitations).where(eq(invitations.invitedByUser, user.id));
}

/**
 * Sets a user's password, and ends the user's sessions. Throws 404 for the user, 409 for the caller's own account.
 */
export async function resetUserPassword(ctx: Ctx, id: string, password: string): Promise<User> {
  const passwordHash = await hashFor(ctx, id, password);
  const summary = { sessionsEnded: 0 };
  await writeUser(ctx, id, { action: "password.reset", summary }, async (tx, user) => {
    summary.sessionsEnded = await setPassword(tx, ctx, user, passwordHash);
  });
  return findUser(ctx.db, id);
}

/**
 * Deletes an account with its memberships, invitations and tokens. Throws 404 for the user, 409 for the last Platform
 * Admin and for the last Owner of an organization.
 */
export async function deleteUser(ctx: Ctx, id: string): Promise<void> {
  await writeUser(ctx, id, { action: "user.delete" }, async (tx, user) => {
    await requireSuccessors(tx, user);
    await deleteResetLinks(tx, user.id);
    await tx.delete(users).where(eq(users.id, user.id));
  });
}

/** A hash of the new password. Throws the 409 for the caller's own account, whose current password is not known here. */
async function hashFor(ctx: Ctx, id: string, password: string): Promise<string> {
  if (id.toLowerCase() === ctx.actor.id) {
    throw new EngineError("conflict", "This is your own account: use /api/me/password");
  }
  return ctx.passwords.hash(password);
}

/** Sets a password that the caller knows; the account still reaches all of its organizations. */
function setPassword(tx: Db, { actor }: Ctx, user: Account, passwordHash: string): Promise<number> {
  return replacePassword(tx, user, { passwordHash, passwordSetBy: actor.id, passwordOrganization: null });
}

async function unlessTaken<T>(email: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new EngineError("conflict", `The e-mail ${email} has an account already`);
  }
}
