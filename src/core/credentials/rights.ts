import { isRoleKey, type Permission, roles } from "./permissions.ts";

/** The stored state that decides a caller's rights in an organization. */
export interface Standing {
  /** The key of the caller's role; null for a caller who does not reach the organization. */
  role: string | null;
  /** The ids of the workspaces that the caller was added to, sorted and joined by commas; null for none. */
  workspaceIds: string | null;
}

/** The rights of a caller in an organization. */
export interface Rights {
  permissions: ReadonlySet<Permission>;
  /** The workspaces that the caller reaches; null for all workspaces. */
  workspaceIds: readonly string[] | null;
}

/**
 * The one place that decides what a caller may do. A role that this release does not know has no permissions. Owners and
 * Admins reach every workspace. `first`: whether the organization is the first one, where alone a role includes
 * `policy:manage`, because its Owners administer the installation.
 */
export function rightsOf({ role, workspaceIds }: Standing, { first }: { first: boolean }): Rights {
  const known = role !== null && isRoleKey(role) ? role : null;
  const permissions = [...(known ? roles[known] : [])].filter((one) => first || one !== "policy:manage");
  const reachesAll = known === "owner" || known === "admin";
  return { permissions: new Set(permissions), workspaceIds: reachesAll ? null : (workspaceIds?.split(",") ?? []) };
}

/** A permission of `theirs` that `mine` lack; undefined when they lack none. */
export function lacked(theirs: ReadonlySet<Permission>, mine: ReadonlySet<Permission>): Permission | undefined {
  return [...theirs].find((permission) => !mine.has(permission));
}

export function sameRights(one: Rights, other: Rights): boolean {
  const [a, b] = [one.permissions, other.permissions];
  return sameReach(one, other) && !lacked(a, b) && !lacked(b, a);
}

/** Whether two callers reach the same workspaces. `rightsOf` gives them in one order. */
export function sameReach(one: Rights, other: Rights): boolean {
  return one.workspaceIds?.join() === other.workspaceIds?.join();
}
