import type { Edition } from "../edition.ts";
import { isRoleKey, type Permission, permissions, roles } from "./permissions.ts";

/** The stored state that decides a caller's rights in an organization. */
export interface Standing {
  /** The key of the caller's role; null for a caller who does not reach the organization. */
  role: string | null;
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
 * Admins reach every workspace. With the feature `administration` a Platform Admin has all permissions in every
 * organization; without it, those of the role, and `policy:manage` in the first organization. There alone a role
 * includes `policy:manage`, and only while nobody is a Platform Admin. A token may be narrowed to some permissions.
 */
export function rightsOf(standing: Standing, place: Place): Rights {
  const { permissions: held, ...rights } = rightsOfPerson(standing, place);
  if (standing.narrowedTo === null) return { permissions: held, ...rights };
  const named: ReadonlySet<string> = new Set(standing.narrowedTo.split(","));
  return { permissions: new Set([...held].filter((one) => named.has(one))), ...rights };
}

/** The rights of the holder of a token. */
function rightsOfPerson(standing: Standing, { first, edition }: Place): Rights {
  const { role, workspaceIds, governed } = standing;
  const isPlatformAdmin = standing.isPlatformAdmin === true;
  if (isPlatformAdmin && edition.has("administration")) {
    return { permissions: new Set(permissions), workspaceIds: null, everywhere: true };
  }
  const known = role !== null && isRoleKey(role) ? role : null;
  const held = new Set<Permission>(known ? roles[known] : []);
  if (!first || governed) held.delete("policy:manage");
  if (first && isPlatformAdmin) held.add("policy:manage");
  const reachesAll = known === "owner" || known === "admin";
  return {
    permissions: held,
    workspaceIds: reachesAll ? null : (workspaceIds?.split(",") ?? []),
    everywhere: false,
  };
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
