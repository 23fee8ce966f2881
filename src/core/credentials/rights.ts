import type { Edition } from "../edition.ts";
import {
  isRoleKey,
  managedPermissions,
  type Permission,
  permissions,
  roles,
  withheldPermissions,
} from "./permissions.ts";

/** A role that an organization made. */
export interface CustomRole {
  permissions: readonly string[];
  /** Whether the role reaches every workspace of the organization. */
  allWorkspaces: boolean;
}

/** The stored state that decides a caller's rights in an organization. */
export interface Standing {
  /** The key of the caller's role; null for a caller who does not reach the organization. */
  role: string | null;
  /** The organization's own role with this key; null for none. */
  customRole: CustomRole | null;
  /** The ids of the workspaces that the caller was added to, sorted and joined by commas; null for none. */
  workspaceIds: string | null;
  /** Whether the caller is a Platform Admin; null for a caller who does not reach the organization. */
  isPlatformAdmin: boolean | null;
  /** Whether any user is a Platform Admin: then no role includes `policy:manage`. */
  governed: boolean;
  /** The permissions that the caller's token is narrowed to, joined by commas; null for all of the caller's. */
  narrowedTo: string | null;
}

/** The standing of the engine itself: an Owner who holds `policy:manage` also beside Platform Admins. */
export const ownerStanding: Standing = {
  role: "owner",
  customRole: null,
  workspaceIds: null,
  isPlatformAdmin: false,
  governed: false,
  narrowedTo: null,
};

/** The rights of a caller in an organization. */
export interface Rights {
  permissions: ReadonlySet<Permission>;
  /** The workspaces that the caller reaches; null for all workspaces. */
  workspaceIds: readonly string[] | null;
  /** Whether the caller reaches every organization, as a Platform Admin. */
  everywhere: boolean;
}

/** The organization and the edition that a standing counts in. */
export interface Place {
  /** Whether the organization is the first one, whose log and policies are those of the installation. */
  first: boolean;
  edition: Edition;
}

/**
 * The one place that decides what a caller may do. A role that this release does not know has no permissions. Owners and
 * Admins reach every workspace, as do custom roles that say so. Custom roles count in every edition. With the feature
 * `administration` a Platform Admin has all permissions in every organization; without it, those of the role, and
 * `policy:manage` in the first organization. There alone a role includes `policy:manage`, and only while nobody is a
 * Platform Admin. A token may be narrowed to some permissions.
 */
export function rightsOf(standing: Standing, place: Place): Rights {
  const { permissions: held, ...rights } = rightsOfPerson(standing, place);
  if (standing.narrowedTo === null) return { permissions: held, ...rights };
  const named: ReadonlySet<string> = new Set(standing.narrowedTo.split(","));
  return { permissions: new Set([...held].filter((one) => named.has(one))), ...rights };
}

/** The rights of the holder of a token. */
function rightsOfPerson(standing: Standing, { first, edition }: Place): Rights {
  const { workspaceIds, governed } = standing;
  const isPlatformAdmin = standing.isPlatformAdmin === true;
  if (isPlatformAdmin && edition.has("administration")) {
    return { permissions: new Set(permissions), workspaceIds: null, everywhere: true };
  }
  const { permissions: held, allWorkspaces } = roleOf(standing);
  if (!edition.managed) for (const permission of managedPermissions) held.delete(permission);
  if (!first || governed) held.delete("policy:manage");
  if (first && isPlatformAdmin) held.add("policy:manage");
  return {
    permissions: held,
    workspaceIds: allWorkspaces ? null : (workspaceIds?.split(",") ?? []),
    everywhere: false,
  };
}

/** The permissions of a role, and whether it reaches all workspaces. A built-in role goes before a custom one. */
function roleOf({ role, customRole }: Standing): { permissions: Set<Permission>; allWorkspaces: boolean } {
  if (role !== null && isRoleKey(role)) {
    return { permissions: new Set(roles[role]), allWorkspaces: role === "owner" || role === "admin" };
  }
  const named: ReadonlySet<string> = new Set(customRole?.permissions);
  const held = permissions.filter((one) => named.has(one) && !withheldPermissions.includes(one));
  return { permissions: new Set(held), allWorkspaces: customRole?.allWorkspaces ?? false };
}

/** The rights of a role anywhere but in the first organization; null for a role that this release does not know. */
export function rightsOfRole(role: string, customRole: CustomRole | null, edition: Edition): Rights | null {
  if (!isRoleKey(role) && customRole === null) return null;
  return rightsOf({ ...ownerStanding, role, customRole }, { first: false, edition });
}

/** A permission or, in words, the reach that `theirs` have and `mine` lack; undefined for none. */
export function exceeding(theirs: Rights, mine: Rights): string | undefined {
  const beyond = theirs.workspaceIds === null && mine.workspaceIds !== null ? "access to every workspace" : undefined;
  return lacked(theirs.permissions, mine.permissions) ?? beyond;
}

/** A permission of `theirs` that `mine` lack; undefined when they lack none. */
export function lacked(theirs: ReadonlySet<Permission>, mine: ReadonlySet<Permission>): Permission | undefined {
  return [...theirs].find((permission) => !mine.has(permission));
}

export function sameRights(one: Rights, other: Rights): boolean {
  const [a, b] = [one.permissions, other.permissions];
  return one.everywhere === other.everywhere && sameReach(one, other) && !lacked(a, b) && !lacked(b, a);
}

/** Whether two callers reach the same workspaces. `rightsOf` gives them in one order. */
export function sameReach(one: Rights, other: Rights): boolean {
  return one.workspaceIds?.join() === other.workspaceIds?.join();
}
