import { and, eq, ne, notInArray } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import type { Membership } from "../../../context/membership.ts";
import { exceeding, ownerStanding, type Rights, rightsOf, rightsOfRole } from "../../../core/credentials/rights.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { members, users, workspaceMembers, workspaces } from "../../../db/schema.ts";
import { requireOwner } from "../roles/grants.ts";
import { findMember } from "./find.ts";
import { otherOwners } from "./owners.ts";

/**
 * Throws the 403 unless the caller is an Owner, as management keys are, and the 409 for the last active Owner. Call it
 * in a transaction of `writeOrganization`, under whose lock the number of Owners can't change.
 */
export async function releaseOwner(tx: Db, membership: Membership, userId: string, deed: string): Promise<void> {
  requireOwner(membership, deed);
  const [other] = await otherOwners(tx, membership.organizationId, userId).limit(1);
  if (!other) throw new EngineError("conflict", "The last Owner stays: make another member an Owner first");
}

/**
 * The e-mail of a member whose account the caller may manage. Locks the account, so that it can't join another
 * organization meanwhile. Throws 404 for the member; 403 for one with a permission that the caller lacks, for a Platform
 * Admin unless the caller is one, and for a management key on an Owner; 409 for the caller's own account, and for one in
 * several organizations.
 */
export async function lockManaged(tx: Db, ctx: Ctx, userId: string): Promise<string> {
  const { actor, membership } = ctx;
  if (actor.id === userId.toLowerCase()) {
    throw new EngineError("conflict", "This is your own account: use /api/me/password and /api/me/sessions");
  }
  // The strongest lock: every insert into `members` waits for it, however the person joins; so does becoming a Platform
  // Admin.
  const [account] = await tx
    .select({ flag: users.isPlatformAdmin })
    .from(users)
    .where(eq(users.id, userId))
    .for("update");
  const member = await findMember(ctx, tx, userId);
  // In every edition: an account that is taken over now would get the installation once the feature is on again.
  if (account?.flag && !membership.everywhere) {
    throw new EngineError("forbidden", "This member is a Platform Admin: only a Platform Admin manages the account");
  }
  const { edition } = ctx.options;
  // A role that this release does not know counts as the Owner's.
  const theirs = rightsOfMember(ctx, member) ?? rightsOf(ownerStanding, { first: false, edition });
  requireNotHigher(ctx, theirs);
  await requireReach(tx, ctx, userId);
  if (theirs.permissions.has("org:write") && actor.type === "key") {
    throw new EngineError("forbidden", "Only a person may manage an Owner's account, never a management key");
  }
  const [elsewhere] = await tx
    .select({ organizationId: members.organizationId })
    .from(members)
    .where(and(eq(members.userId, userId), ne(members.organizationId, membership.organizationId)))
    .limit(1);
  if (elsewhere) {
    throw new EngineError("conflict", "This account belongs to other organizations too: only its holder manages it");
  }
  return member.email;
}

/** Throws the 403 for a member of a workspace that the caller does not reach: the account would lead there. */
async function requireReach(tx: Db, { membership }: Ctx, userId: string): Promise<void> {
  if (membership.workspaceIds === null) return;
  const [beyond] = await tx
    .select({ id: workspaces.id })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspaceId))
    .where(
      and(
        eq(workspaceMembers.userId, userId),
        eq(workspaces.organizationId, membership.organizationId),
        notInArray(workspaces.id, [...membership.workspaceIds]),
      ),
    )
    .limit(1);
  if (beyond) throw new EngineError("forbidden", "This member is in a workspace that you don't reach: ask an Owner");
}

type RoleHolder = Pick<Awaited<ReturnType<typeof findMember>>, "roleKey" | "customRole">;

/** The rights of a member; null for a role that this release does not know. */
const rightsOfMember = ({ options }: Ctx, { roleKey, customRole }: RoleHolder) =>
  rightsOfRole(roleKey, customRole, options.edition);

/** Throws the 403 for a member with a higher role than the caller. An unknown role is not higher. */
export function requireNotAbove(ctx: Ctx, member: RoleHolder): void {
  const theirs = rightsOfMember(ctx, member);
  if (theirs) requireNotHigher(ctx, theirs);
}

/** A higher role has a permission, or the reach, that the caller lacks. */
function requireNotHigher({ membership }: Ctx, theirs: Rights): void {
  if (exceeding(theirs, membership)) {
    throw new EngineError("forbidden", "This member's role is higher than yours: ask an Owner");
  }
}
