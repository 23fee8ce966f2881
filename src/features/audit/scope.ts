import type { Ctx } from "../../context.ts";

/**
 * Whether the caller also sees the entries of no organization: unknown accounts' failed sign-ins and what else happens
 * outside of any. They concern the installation, so it takes its Owner.
 */
export function seesInstallation({ membership }: Ctx): boolean {
  return membership.first && membership.permissions.has("policy:manage");
}

/** $1 the organization, $2 whether entries of none count too. Two conditions, since an index answers each by itself. */
export const ownEntries = "organization_id = $1";
export const entriesOfNone = "organization_id is null and $2::boolean";
