import { and, asc, count, eq, sql } from "drizzle-orm";
import { authorOf, type Ctx } from "../../../context/ctx.ts";
import { type Changes, changesBetween } from "../../../core/changes.ts";
import { isRoleKey, permissions, roleKeys, withheldPermissions } from "../../../core/credentials/permissions.ts";
import { ownerStanding, rightsOf } from "../../../core/credentials/rights.ts";
import { EngineError, notFound } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { sortByName } from "../../../core/text/names.ts";
import type { Db } from "../../../db/client.ts";
import { customRoles, invitations, members } from "../../../db/schema.ts";
import { writeOrganization } from "../write.ts";
import { requireWithin } from "./grants.ts";
import type { NewRole, Role, RoleChanges } from "./schema.ts";

/** The most custom roles of an organization. */
const mostRoles = 50;

type Stored = typeof customRoles.$inferSelect;

/** The built-in roles, then the organization's own by name. */
export async function listRoles(ctx: Ctx): Promise<Role[]> {
  const { db, membership } = ctx;
  const held = await db
    .select({ key: members.roleKey, holders: count() })
    .from(members)
    .where(eq(members.organizationId, membership.organizationId))
    .groupBy(members.roleKey);
  const holders = new Map(held.map((one) => [one.key, one.holders]));
  const own = await db.select().from(customRoles).where(ofOrganization(ctx)).orderBy(asc(customRoles.key));
  const custom = own.map((role) => toRole(ctx, role, holders.get(role.key) ?? 0));
  return [...roleKeys.map((key) => builtIn(ctx, key, holders.get(key) ?? 0)), ...sortByName(custom)];
}

const names = { owner: "Owner", admin: "Admin", member: "Member", viewer: "Viewer" } as const;

/** A built-in role. `policy:manage` is not among its permissions: it belongs to Platform Admins. */
function builtIn({ membership, options }: Ctx, key: keyof typeof names, holders: number): Role {
  const standing = { ...ownerStanding, role: key, governed: true };
  const { permissions: held, workspaceIds } = rightsOf(standing, { ...membership, edition: options.edition });
  return {
    key,
    name: names[key],
    permissions: [...held],
    allWorkspaces: workspaceIds === null,
    builtin: true,
    holders,
  };
}

function toRole({ membership, options }: Ctx, { key, name, ...customRole }: Stored, holders: number): Role {
  const { permissions: held } = rightsOf(
    { ...ownerStanding, role: key, customRole },
    { ...membership, edition: options.edition },
  );
  const { allWorkspaces } = customRole;
  return { key, name, permissions: [...held], allWorkspaces, builtin: false, holders };
}

/**
 * Creates a role of the organization. Throws the 400 for a permission that no custom role has, the 403 for one that the
 * caller lacks, the 409 for a taken key and for too many roles.
 */
export async function createRole(ctx: Ctx, { key, ...input }: NewRole): Promise<Role> {
  requireCustom(key);
  const role = checked(ctx, input);
  const { organizationId } = ctx.membership;
  const summary = { key, permissions: role.permissions, allWorkspaces: role.allWorkspaces };
  return writeOrganization(ctx, { action: "role.create", target: role.name, summary }, async (tx) => {
    if (await findRole(tx, ctx, key)) throw new EngineError("conflict", `There is a role ${key} already`);
    if ((await tx.$count(customRoles, ofOrganization(ctx))) >= mostRoles) {
      throw new EngineError("conflict", `The organization has ${mostRoles} roles: delete one first`);
    }
    const author = authorOf(ctx);
    const row = { id: newId(), organizationId, key, ...role, createdBy: author, updatedBy: author };
    const [made] = await tx.insert(customRoles).values(row).returning();
    if (!made) throw new Error("An insert returned no row");
    return toRole(ctx, made, 0);
  });
}

/** Replaces a role. Throws the 404, and as `createRole` does. */
export async function updateRole(ctx: Ctx, key: string, input: RoleChanges): Promise<Role> {
  requireCustom(key);
  const role = checked(ctx, input);
  const { name: target } = await requireRole(ctx.db, ctx, key);
  const changes: Changes = {};
  return writeOrganization(ctx, { action: "role.update", target, summary: { key }, changes }, async (tx) => {
    Object.assign(changes, changesBetween(await requireRole(tx, ctx, key), role));
    const [changed] = await tx
      .update(customRoles)
      .set({ ...role, updatedBy: authorOf(ctx), updatedAt: sql`now()` })
      .where(withKey(ctx, key))
      .returning();
    if (!changed) throw notFound("Role");
    return toRole(ctx, changed, await countHolders(tx, ctx, key));
  });
}

/** Deletes a role, with the invitations that offer it. Throws the 404, and the 409 for a built-in role or one with holders. */
export async function deleteRole(ctx: Ctx, key: string): Promise<void> {
  requireCustom(key);
  const { name: target } = await requireRole(ctx.db, ctx, key);
  await writeOrganization(ctx, { action: "role.delete", target, summary: { key } }, async (tx) => {
    await requireRole(tx, ctx, key);
    const holders = await countHolders(tx, ctx, key);
    if (holders > 0) throw new EngineError("conflict", `The role is held by ${holders} members`);
    const { organizationId } = ctx.membership;
    await tx
      .delete(invitations)
      .where(and(eq(invitations.organizationId, organizationId), eq(invitations.roleKey, key)));
    await tx.delete(customRoles).where(withKey(ctx, key));
  });
}

function requireCustom(key: string): void {
  if (isRoleKey(key)) throw new EngineError("conflict", `The role ${key} is built in`);
}

/** The fields of a role as they are stored: its permissions in the order of the built-in roles. */
function checked(ctx: Ctx, { name, permissions: named, allWorkspaces = false }: RoleChanges) {
  const withheld = withheldPermissions.find((permission) => named.includes(permission));
  if (withheld) throw new EngineError("bad-request", `permissions: ${withheld} can't be in a custom role`);
  const sorted = permissions.filter((permission) => named.includes(permission));
  requireWithin(ctx, { permissions: new Set(sorted), workspaceIds: allWorkspaces ? null : [], everywhere: false });
  return { name, permissions: sorted, allWorkspaces };
}

const ofOrganization = ({ membership }: Ctx) => eq(customRoles.organizationId, membership.organizationId);
const withKey = (ctx: Ctx, key: string) => and(ofOrganization(ctx), eq(customRoles.key, key));

async function findRole(db: Db, ctx: Ctx, key: string): Promise<Stored | undefined> {
  if (key.includes("\u0000")) return undefined;
  const [role] = await db.select().from(customRoles).where(withKey(ctx, key));
  return role;
}

async function requireRole(db: Db, ctx: Ctx, key: string): Promise<Stored> {
  const role = await findRole(db, ctx, key);
  if (!role) throw notFound("Role");
  return role;
}

function countHolders(tx: Db, { membership }: Ctx, key: string): Promise<number> {
  return tx.$count(members, and(eq(members.organizationId, membership.organizationId), eq(members.roleKey, key)));
}
