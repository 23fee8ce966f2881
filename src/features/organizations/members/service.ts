import { and, asc, eq, inArray } from "drizzle-orm";
import { audit } from "../../../context/audit.ts";
import type { Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { newId, randomToken } from "../../../core/ids.ts";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { accessTokens, members, users, workspaceMembers, workspaces } from "../../../db/schema.ts";
import { deleteSessionsOf, nameOf, replacePassword, userOf } from "../../account/index.ts";
import type { Invited } from "../invitations/schema.ts";
import { endOffersTo, invite } from "../invitations/service.ts";
import { requireGrantable } from "../roles/grants.ts";
import { writeOrganization } from "../write.ts";
import { accountColumns, findMember, isMember, selectMembers, toMember } from "./find.ts";
import { lockManaged, releaseOwner, requireNotAbove } from "./roles.ts";
import type { AddedMember, Member, NewMember, RenewedPassword } from "./schema.ts";

/** All members of the request's organization, by name. */
export async function listMembers({ db, membership }: Ctx): Promise<Member[]> {
  const rows = await selectMembers(db)
    .where(eq(members.organizationId, membership.organizationId))
    .orderBy(asc(users.email));
  return sortByName(rows.map(toMember));
}

/** Thrown when another request has created the account first. */
const overtaken = new Error("The e-mail has an account by now");

/**
 * Adds a person to the organization. A new e-mail gets an account, with the given password, or with a generated one, which
 * only this result contains; the account reaches no other organization before its holder chooses another password. The
 * holder of an existing account is invited. Throws as `requireGrantable` does, and the 409 for a member.
 */
export async function addMember(ctx: Ctx, input: NewMember): Promise<AddedMember | Invited> {
  const { email, name = nameOf(input.email), roleKey, password } = input;
  await requireGrantable(ctx.db, ctx, roleKey);
  if (await findAccount(ctx.db, email)) return invite(ctx, input);
  const generated = password === undefined ? randomToken(12) : undefined;
  // Hashed before the transaction begins, because hashing is slow and the transaction holds locks.
  const passwordHash = await ctx.passwords.hash(password ?? generated ?? "");
  try {
    const made = await writeOrganization(
      ctx,
      { action: "member.add", target: email, summary: { roleKey } },
      async (tx) => {
        await requireGrantable(tx, ctx, roleKey);
        const user = await createAccount(tx, ctx, { email, name, passwordHash });
        await tx
          .insert(members)
          .values({ organizationId: ctx.membership.organizationId, userId: user.userId, roleKey });
        return user;
      },
    );
    return { ...made, roleKey, ...(generated === undefined ? {} : { password: generated }) };
  } catch (error) {
    if (error !== overtaken) throw error;
    return invite(ctx, input);
  }
}

/**
 * Changes a role. Throws 404 for the member, 403 when the old role is higher than the caller's or the new one not the
 * caller's to give, 409 for the last Owner, and as `requireGrantable` does.
 */
export async function changeRole(ctx: Ctx, userId: string, roleKey: string): Promise<void> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const changes: Changes = {};
  await writeOrganization(ctx, { action: "member.update", target: email, summary: { userId }, changes }, async (tx) => {
    const before = await findMember(ctx, tx, userId);
    // Read under the lock, so that the audit entry contains the replaced role.
    Object.assign(changes, changesBetween({ roleKey: before.roleKey }, { roleKey }));
    if (before.roleKey === "owner" && roleKey !== "owner") {
      await releaseOwner(tx, ctx.membership, userId, "change the role of an Owner");
    }
    await requireGrantable(tx, ctx, roleKey);
    requireNotAbove(ctx, before);
    await tx.update(members).set({ roleKey }).where(isMember(ctx.membership, userId));
  });
}

/**
 * Removes a member. Throws 404 for the member, 403 for one with a higher role than the caller, 409 for the last Owner.
 */
export async function removeMember(ctx: Ctx, userId: string): Promise<void> {
  const { email } = await findMember(ctx, ctx.db, userId);
  await writeOrganization(ctx, { action: "member.remove", target: email, summary: { userId } }, (tx) =>
    takeOut(tx, ctx, userId, "remove an Owner"),
  );
}

/** Removes the caller from the request's organization. Throws the 409 for its last Owner. */
export async function leaveOrganization(ctx: Ctx): Promise<void> {
  const { id: userId, email } = userOf(ctx);
  await writeOrganization(ctx, { action: "member.leave", target: email, summary: { userId } }, (tx) =>
    takeOut(tx, ctx, userId, "leave as one"),
  );
}

/** Deletes a membership, its entries in the organization's workspaces, and the person's tokens for the organization. */
async function takeOut(tx: Db, ctx: Ctx, userId: string, deed: string): Promise<void> {
  const { membership } = ctx;
  const { organizationId } = membership;
  const member = await findMember(ctx, tx, userId);
  if (member.roleKey === "owner") await releaseOwner(tx, membership, userId, deed);
  // Whoever leaves may have narrowed the own token.
  if (userId !== ctx.actor.id) requireNotAbove(ctx, member);
  const own = tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.organizationId, organizationId));
  await tx
    .delete(workspaceMembers)
    .where(and(eq(workspaceMembers.userId, userId), inArray(workspaceMembers.workspaceId, own)));
  await tx.delete(members).where(isMember(membership, userId));
  // After the membership, whose lock a token in the making holds: joining again must not revive it.
  await tx
    .delete(accessTokens)
    .where(
      and(
        eq(accessTokens.kind, "personal"),
        eq(accessTokens.userId, userId),
        eq(accessTokens.organizationId, organizationId),
      ),
    );
}

async function findAccount(db: Db, email: string) {
  const [user] = await db.select(accountColumns).from(users).where(eq(users.email, email));
  return user;
}

/**
 * Creates an account. Throws `overtaken` when the e-mail has one by now. `passwordSetBy` is the caller, who knows the
 * password.
 */
async function createAccount(
  tx: Db,
  { actor, membership, request }: Ctx,
  user: { email: string; name: string; passwordHash: string },
) {
  const [made] = await tx
    .insert(users)
    .values({ id: newId(), ...user, passwordSetBy: actor.id, passwordOrganization: membership.organizationId })
    .onConflictDoNothing({ target: users.email })
    .returning(accountColumns);
  if (!made) throw overtaken;
  const { organizationId } = membership;
  const summary = { userId: made.userId };
  await audit(tx, { action: "user.create", target: user.email, summary, organizationId, actor, request });
  return made;
}

/**
 * Sets a generated password of a member, which only this result contains. Deletes the member's sessions, and the
 * invitations of other organizations. Throws as `lockManaged` does.
 */
export async function renewPassword(ctx: Ctx, userId: string): Promise<RenewedPassword> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const password = randomToken(12);
  // Hashed before the transaction begins, because hashing is slow and the transaction holds locks.
  const passwordHash = await ctx.passwords.hash(password);
  const setBy = { passwordSetBy: ctx.actor.id, passwordOrganization: ctx.membership.organizationId };
  const summary = { userId, sessionsEnded: 0 };
  await writeOrganization(ctx, { action: "password.renew", target: email, summary }, async (tx) => {
    await lockManaged(tx, ctx, userId);
    summary.sessionsEnded = await replacePassword(tx, { id: userId, email }, { passwordHash, ...setBy });
    await endOffersTo(tx, ctx, { id: userId, email });
  });
  return { password, sessionsEnded: summary.sessionsEnded };
}

/** Ends all sessions of a member; returns their number. Throws as `lockManaged` does. */
export async function endMemberSessions(ctx: Ctx, userId: string): Promise<number> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const summary = { userId, ended: 0 };
  const change = { action: "session.end", target: email, summary, unchanged: () => summary.ended === 0 };
  return writeOrganization(ctx, change, async (tx) => {
    await lockManaged(tx, ctx, userId);
    summary.ended = await deleteSessionsOf(tx, userId);
    return summary.ended;
  });
}
