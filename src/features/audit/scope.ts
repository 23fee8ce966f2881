import { eq, isNull, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { auditLogs } from "../../db/schema.ts";

/**
 * The entries that the caller sees, as two conditions: a query asks them one by one, because an index answers each by
 * itself.
 */
export interface Scope {
  /** The entries of the addressed organization. */
  own: SQL;
  /** The entries of no organization. Matches nothing for a caller who may not see them. */
  unowned: SQL;
}

export function scopeOf(ctx: Ctx): Scope {
  return {
    own: eq(auditLogs.organizationId, ctx.membership.organizationId),
    unowned: seesInstallation(ctx) ? isNull(auditLogs.organizationId) : sql`false`,
  };
}

/**
 * Entries of no organization, such as failed sign-ins of unknown accounts, concern the installation: only its Owners
 * see them.
 */
function seesInstallation({ membership }: Ctx): boolean {
  return membership.first && membership.permissions.has("policy:manage");
}
