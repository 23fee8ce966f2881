import { asc, eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { Membership } from "../../../context/membership.ts";
import { roleKeys } from "../../../core/credentials/permissions.ts";
import { type CustomRole, exceeding, type Rights, rightsOfRole } from "../../../core/credentials/rights.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { customRoles } from "../../../db/schema.ts";

/**
 * Throws the 400 for an unknown role, and the 403 for a role that the caller may not give: that of an Owner, and one with
 * a permission, or the reach, that the caller lacks. Call it under the lock of `writeOrganization`: roles change under it.
 */
export async function requireGrantable(tx: Db, ctx: Ctx, roleKey: string): Promise<void> {
  if (roleKey === "owner") requireMakerOfOwners(ctx);
  const { edition } = ctx.options;
  const rights =
    rightsOfRole(roleKey, null, edition) ?? rightsOfRole(roleKey, await findCustom(tx, ctx, roleKey), edition);
  if (rights) requireWithin(ctx, rights);
}

/** Throws the 403 for rights that the caller lacks: nobody grants them. */
export function requireWithin({ membership }: Ctx, rights: Rights): void {
  const missing = exceeding(rights, membership);
  if (missing) throw new EngineError("forbidden", `You can't grant ${missing}`);
}

/** The organization's own role. Throws the 400 for an unknown key. */
async function findCustom(tx: Db, { membership }: Ctx, roleKey: string): Promise<CustomRole> {
  const own = await tx
    .select()
    .from(customRoles)
    .where(eq(customRoles.organizationId, membership.organizationId))
    .orderBy(asc(customRoles.key));
  const found = own.find(({ key }) => key === roleKey);
  if (found) return found;
  const known = [...roleKeys, ...own.map(({ key }) => key)];
  throw new EngineError("bad-request", `roleKey: must be one of ${known.join(", ")}`);
}

/**
 * Throws the 403 for a caller who may not make Owners: an Admin could otherwise become one, and an Owner made by a
 * management key would outlive the key.
 */
function requireMakerOfOwners({ actor, membership }: Ctx): void {
  if (actor.type === "key") {
    throw new EngineError("forbidden", "Only a person may make an Owner, never a management key: sign in for it");
  }
  requireOwner(membership, "make somebody an Owner");
}

/** An Owner is a caller who may change the organization. */
export function requireOwner({ permissions }: Membership, deed: string): void {
  if (!permissions.has("org:write")) throw new EngineError("forbidden", `Only an Owner may ${deed}`);
}
