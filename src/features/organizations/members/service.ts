import { and, asc, eq, inArray, ne, sql } from "drizzle-orm";
import { audit, type Ctx, type Membership } from "../../../context.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId, randomToken } from "../../../core/ids.ts";
import type { RoleKey } from "../../../core/permissions.ts";
import type { Db } from "../../../db/client.ts";
import { members, users, workspaceMembers, workspaces } from "../../../db/schema.ts";
import { nameOf } from "../../account/index.ts";
import { writeOrganization } from "../write.ts";
import { accountColumns, findMember, isMember, selectMembers, toMember } from "./find.ts";
import type { AddedMember, Member, NewMember } from "./schema.ts";

/** All members of the addressed organization, by name. */
export async function listMembers({ db, membership }: Ctx): Promise<Member[]> {
  const rows = await selectMembers(db)
    .where(eq(members.organizationId, membership.organizationId))
    .orderBy(sql`lower(${users.name})`, asc(users.email));
  return rows.map(toMember);
}

/**
 * Adds a person to the organization. An e-mail without an account gets one, with the given password or a generated one
 * that only this answer shows; until its holder chooses another password the account reaches no other organization. An
 * existing account joins unchanged. Throws the 403 of a caller who may not make an Owner and the 409 of a member.
 */
export async function addMember(ctx: Ctx, { email, name, roleKey, password }: NewMember): Promise<AddedMember> {
  const { organizationId } = ctx.membership;
  if (roleKey === "owner") requireOwner(ctx.membership, "make somebody an Owner");
  const known = await findAccount(ctx.db, email);
  const generated = known || password !== undefined ? undefined : randomToken(12);
  // Hashed before the transaction begins, because hashing is slow and the transaction holds locks.
  const text = password ?? generated;
  const passwordHash = known || text === undefined ? null : await ctx.passwords.hash(text);
  const summary = { roleKey, ...(known ? { existingAccount: true } : {}) };
  const change = { action: "member.add", target: email, summary };
  return writeOrganization(ctx, change, async (tx) => {
    const made = known ? undefined : await createAccount(tx, ctx, { email, name: name ?? nameOf(email), passwordHash });
    // When `made` is undefined, another request made the account first.
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

/** Throws 404 for the member, 403 when a caller who is no Owner makes or changes one, 409 for the last Owner. */
export async function changeRole(ctx: Ctx, userId: string, roleKey: RoleKey): Promise<void> {
  const { email } = await findMember(ctx, ctx.db, userId);
  const summary = { userId, from: "", to: roleKey };
  await writeOrganization(ctx, { action: "member.update", target: email, summary }, async (tx) => {
    const before = await findMember(ctx, tx, userId);
    // Read under the lock, so that the audit entry names the role that this change ends.
    summary.from = before.roleKey;
    if (roleKey === "owner") requireOwner(ctx.membership, "make somebody an Owner");
    else if (before.roleKey === "owner") await releaseOwner(tx, ctx.membership, userId, "change the role of an Owner");
    await tx.update(members).set({ roleKey }).where(isMember(ctx.membership, userId));
  });
}

/** Throws 404 for the member, 403 when a caller who is no Owner removes one, 409 for the last Owner. */
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
    await tx.delete(members).where(isMember(membership, userId));
  });
}

async function findAccount(db: Db, email: string) {
  const [user] = await db.select(accountColumns).from(users).where(eq(users.email, email));
  return user;
}

/** Undefined when the e-mail has an account by now. `passwordSetBy` names the caller, who knows the password. */
async function createAccount(
  tx: Db,
  { actor, membership, request }: Ctx,
  user: { email: string; name: string; passwordHash: string | null },
) {
  const [made] = await tx
    .insert(users)
    .values({ id: newId(), ...user, passwordSetBy: actor.id, passwordOrganization: membership.organizationId })
    .onConflictDoNothing({ target: users.email })
    .returning(accountColumns);
  if (!made) return undefined;
  const { organizationId } = membership;
  const summary = { userId: made.userId };
  await audit(tx, { action: "user.create", target: user.email, summary, organizationId, actor, request });
  return made;
}

/** Throws the 403 of `deed` unless the caller has the Owner's role, so that no Admin becomes an Owner alone. */
function requireOwner({ role }: Membership, deed: string): void {
  if (role !== "owner") throw new EngineError("forbidden", `Only an Owner may ${deed}`);
}

/**
 * Throws the 403 unless the caller has the Owner's role, as management keys do, and the 409 for the last Owner. Call it
 * inside `writeOrganization`, whose lock keeps the other Owner.
 */
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
