import type { RoleKey } from "../../core/credentials/permissions.ts";

/** Whether people would take two names for equal. Not decided by the database, whose locale may know only ASCII. */
export function isSameName(a: string, b: string): boolean {
  return foldCase(a) === foldCase(b);
}

/** The roles from the least to the most permissions. */
const ranks: readonly string[] = ["viewer", "member", "admin", "owner"] satisfies RoleKey[];

/** Whether a role is higher than another. A role that this release does not know counts as an Owner's. */
export function isHigher(role: string, than: RoleKey): boolean {
  const rank = ranks.indexOf(role);
  return (rank < 0 ? ranks.length - 1 : rank) > ranks.indexOf(than);
}

const foldCase = (name: string) => name.normalize("NFKC").toLowerCase();
