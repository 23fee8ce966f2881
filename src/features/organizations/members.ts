import { z } from "@hono/zod-openapi";
import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";
import { audit, type Ctx, type Membership } from "../../context.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId, randomToken } from "../../core/ids.ts";
import type { RoleKey } from "../../core/permissions.ts";
import type { Db } from "../../db/client.ts";
import { members, users, workspaceMembers, workspaces } from "../../db/schema.ts";
import type { AddedMember, Member, NewMember } from "./member-schema.ts";
import { nameOf } from "./rules.ts";
import { writeOrganization } from "./write.ts";

/** All members of the addressed organization, by name. */
export async function listMembers({ db, membership }: Ctx): Promise<Member[]> {
  const rows = await selectMembers(db)
    .where(eq(members.organizationId, membership.organizationId))
    .orderBy(sql`lower(${users.name})`, asc(users.email));
  return rows.map(toMember);
}

type Row = Awaited<ReturnType<typeof selectMembers>>[number];

/** As lists of members show one. */
export function toMember({ passwordSetBy, ...member }: Row): Member {
  return { ...member, ...(passwordSetBy === null ? {} : { passwordPending: true }) };
}

/**
 * Adds somebody to the organization. An e-mail without an account gets one, with the given password or a generated one
 * that is answered here and nowhere else, and reaches no other organization before its holder has chosen another one; an
 * account that exists joins as it is. Throws the 403 of making an Owner and the 409 of a member.
 */
export async function addMember(ctx: Ctx, { email, name, roleKey, password }: NewMember): Promise<AddedMember> {
  const { organizationId } = ctx.membership;
  if (roleKey === "owner") requireOwner(ctx.membership, "make somebody an Owner");
  const known = await findAccount(ctx.db, email);
  const generated = known || password !== undefined ? undefined : randomToken(12);
  // Hashing takes long, so no transaction waits for it.
  const text = password ?? generated;
  const passwordHash = known || text === undefined ? null : await ctx.passwords.hash(text);
  const summary = { roleKey, ...(known ? { existingAccount: true } : {}) };
  const change = { action: "member.add", target: email, summary };
  return writeOrganization(ctx, change, async (tx) => {
    const made = known ? undefined : await createAccount(tx, ctx, { email, name: name ?? nameOf(email), passwordHash });
    // Not made: somebody else was faster.
    const user = known ?? made ?? (await findAccount(tx, email));
    if (!user) throw new Error("An account is neither there nor can be made");
    const joined = await tx
      .insert(members)
      .values({ organizationId, userId: user.userId, roleKey })
      .onConflictDoNothing()
      .returning({ userId: members.userId });
    if (joined.length === 0) throw new EngineError("conflict", `${email} is a member already`);
    if (!made) return { ...user, roleKey, existingAccount: true };
    return { ...user, roleKey, ...(generated === undefined ? {} : { password: generated }) };
  });
}

/** Throws 404 for the member, 403 when an Owner is made or changed by anybody else, 409 for the last Owner. */
export async function changeRole(ctx: Ctx, userId: string, roleKey: RoleKey): Promise<void> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const summary = { userId, from: "", to: roleKey };
  await writeOrganization(ctx, { action: "member.update", target: email, summary }, async (tx) => {
    const before = await findMember(ctx, tx, userId);
    // Only under the lock is it the role that this change ends.
    summary.from = before.roleKey;
    if (roleKey === "owner") requireOwner(ctx.membership, "make somebody an Owner");
    else if (before.roleKey === "owner") await releaseOwner(tx, ctx.membership, userId, "change the role of an Owner");
    await tx.update(members).set({ roleKey }).where(entryOf(ctx.membership, userId));
  });
}

/** Throws 404 for the member, 403 when an Owner is removed by anybody else, 409 for the last Owner. */
export async function removeMember(ctx: Ctx, userId: string): Promise<void> {
  const { membership } = ctx;
  const { organizationId } = membership;
  const { email } = await findMember(ctx, ctx.db, userId);
  await writeOrganization(ctx, { action: "member.remove", target: email, summary: { userId } }, async (tx) => {
    const { roleKey } = await findMember(ctx, tx, userId);
    if (roleKey === "owner") await releaseOwner(tx, membership, userId, "remove an Owner");
    const own = tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.organizationId, organizationId));
    await tx
      .delete(workspaceMembers)
      .where(and(eq(workspaceMembers.userId, userId), inArray(workspaceMembers.workspaceId, own)));
    await tx.delete(members).where(entryOf(membership, userId));
  });
}

/** The member of the addressed organization. Throws the 404, the same for nobody and for a stranger. */
export async function findMember(
  { membership }: Ctx,
  db: Db,
  userId: string,
): Promise<{ email: string; roleKey: string }> {
  if (!z.uuid().safeParse(userId).success) throw notFound("Member");
  const [member] = await selectMembers(db).where(entryOf(membership, userId));
  if (!member) throw notFound("Member");
  return member;
}

const entryOf = ({ organizationId }: Membership, userId: string) =>
  and(eq(members.organizationId, organizationId), eq(members.userId, userId));

const account = { userId: users.id, email: users.email, name: users.name };

/** To be narrowed: everybody in every organization. */
export function selectMembers(db: Db) {
  return db
    .select({ ...account, roleKey: members.roleKey, passwordSetBy: users.passwordSetBy })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId));
}

async function findAccount(db: Db, email: string) {
  const [user] = await db.select(account).from(users).where(eq(users.email, email));
  return user;
}

/** Undefined when the e-mail has an account by now. Whoever calls knows the password, so the account says so. */
async function createAccount(
  tx: Db,
  { actor, membership, request }: Ctx,
  user: { email: string; name: string; passwordHash: string | null },
) {
  const [made] = await tx
    .insert(users)
    .values({ id: newId(), ...user, passwordSetBy: actor.id, passwordOrganization: membership.organizationId })
    .onConflictDoNothing({ target: users.email })
    .returning(account);
  if (!made) return undefined;
  const { organizationId } = membership;
  const summary = { userId: made.userId };
  await audit(tx, { action: "user.create", target: user.email, summary, organizationId, actor, request });
  return made;
}

/** An Admin must not become an Owner alone. A management key holds the Owner's role. */
function requireOwner({ role }: Membership, deed: string): void {
  if (role !== "owner") throw new EngineError("forbidden", `Only an Owner may ${deed}`);
}

/** Throws unless the Owner may be one no longer: the caller is an Owner, and another one stays. Wants the lock. */
async function releaseOwner(tx: Db, membership: Membership, userId: string, deed: string): Promise<void> {
  requireOwner(membership, deed);
  const [other] = await tx
    .select({ userId: members.userId })
    .from(members)
    .where(
      and(
        eq(members.organizationId, membership.organizationId),
        eq(members.roleKey, "owner"),
        ne(members.userId, userId),
      ),
    )
    .limit(1);
  if (!other) throw new EngineError("conflict", "The last Owner stays: make another member an Owner first");
}
