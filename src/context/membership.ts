import type { Permission } from "../core/credentials/permissions.ts";
import { type Rights, rightsOf, type Standing } from "../core/credentials/rights.ts";
import type { Edition } from "../core/edition.ts";
import { EngineError } from "../core/errors.ts";

/** The organization of a request, and the rights of its actor there. */
export interface Membership extends Rights {
  organizationId: string;
  organizationSlug: string;
  /** Whether the organization is the first one. */
  first: boolean;
  /** Only to be shown: `permissions` and `workspaceIds` decide. Null for an actor who is no member. */
  role: string | null;
}

/** The membership of an actor with this standing. */
export function membershipIn(
  { organizationId, organizationSlug, first }: Pick<Membership, "organizationId" | "organizationSlug" | "first">,
  standing: Standing,
  edition: Edition,
): Membership {
  return { organizationId, organizationSlug, first, role: standing.role, ...rightsOf(standing, { first, edition }) };
}

/** Throws the 403 of decisions §2 unless the caller has the permission. */
export function requirePermission({ permissions }: Membership, permission: Permission): void {
  if (!permissions.has(permission)) throw new EngineError("forbidden", `Missing permission: ${permission}`);
}
