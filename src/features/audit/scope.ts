import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";

/**
 * Whether the caller also sees the entries of no organization: unknown accounts' failed sign-ins and what else happens
 * outside of any. They concern the installation, so it takes its Owner.
 */
function seesInstallation({ membership }: Ctx): boolean {
  return membership.first && membership.permissions.has("policy:manage");
}

/** Which entries the caller sees. Conditions to be asked one by one, since an index answers each by itself. */
export function visibleEntries(ctx: Ctx): SQL[] {
  const own = sql`organization_id = ${ctx.membership.organizationId}`;
  return seesInstallation(ctx) ? [own, sql`organization_id is null`] : [own];
}
