import {
  isRoleKey,
  type Permission,
  type RoleKey,
  reachesAllWorkspaces,
  roles,
} from "../core/credentials/permissions.ts";
import { EngineError } from "../core/errors.ts";

/** The organization of a request, and the rights of its actor there. */
export interface Membership {
  organizationId: string;
  organizationSlug: string;
  /** Whether the organization is the first one, whose Owners administer the installation. */
  first: boolean;
  role: RoleKey;
  permissions: ReadonlySet<Permission>;
  /** The workspaces that the actor reaches; null for all workspaces. */
  workspaceIds: readonly string[] | null;
}

/** A role in an organization, and the ids of the reachable workspaces, joined by commas. */
export interface Standing {
  role: string | null;
  workspaceIds: string | null;
}

/** The membership of a role. A role that this release does not know has no permissions. */
export function membershipIn(
  { organizationId, organizationSlug, first }: Pick<Membership, "organizationId" | "organizationSlug" | "first">,
  { role: key, workspaceIds }: Standing,
): Membership {
  const known = key !== null && isRoleKey(key) ? key : null;
  const role = known ?? "viewer";
  return {
    organizationId,
    organizationSlug,
    first,
    role,
    permissions: known ? roles[known] : new Set(),
    workspaceIds: reachesAllWorkspaces(role) ? null : (workspaceIds?.split(",") ?? []),
  };
}

/** The workspaces to which a query is limited; null when the actor reaches all workspaces. */
export function workspaceScope(membership: Membership): readonly string[] | null {
  return reachesAllWorkspaces(membership.role) ? null : membership.workspaceIds;
}

/** Throws the 403 of decisions §2 unless the caller has the permission. */
export function requirePermission(membership: Membership, permission: Permission): void {
  if (!membership.permissions.has(permission)) throw lacking(permission);
}

/** `requirePermission` in the first organization, which administers the whole installation. */
export function requireInstallationPermission(membership: Membership, permission: Permission): void {
  if (!membership.first) throw lacking(permission);
  requirePermission(membership, permission);
}

const lacking = (permission: Permission) => new EngineError("forbidden", `Missing permission: ${permission}`);
