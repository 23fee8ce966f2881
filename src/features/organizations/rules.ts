import type { RoleKey } from "../../core/credentials/permissions.ts";

/** Whether people would take two names for the same. Not left to the database, whose locale may know ASCII only. */
export function isSameName(a: string, b: string): boolean {
  return foldCase(a) === foldCase(b);
}

/** From the least to the most. */
const ranks: readonly string[] = ["viewer", "member", "admin", "owner"] satisfies RoleKey[];

/** Whether a role stands above another. One that this release does not know counts as an Owner's. */
export function isHigher(role: string, than: RoleKey): boolean {
  const rank = ranks.indexOf(role);
  return (rank < 0 ? ranks.length - 1 : rank) > ranks.indexOf(than);
}

const foldCase = (name: string) => name.normalize("NFKC").toLowerCase();
