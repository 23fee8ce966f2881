import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { auditLogs } from "../../db/schema.ts";
import { eraseEntries } from "./erase.ts";
import { createAuditRoutes } from "./routes.ts";

/**
 * `/api/audit-logs`, and the deletion of entries older than the policy `retentionDays`. Other features write the
 * entries of their changes.
 */
export function auditFeature({ policies }: Services): Contribution {
  const afterMs = () => {
    const { retentionDays } = policies.values;
    return retentionDays === null ? null : retentionDays * 86_400_000;
  };
  return {
    routes: [createAuditRoutes()],
    oldRows: [{ table: auditLogs, since: auditLogs.createdAt, afterMs }],
    erase: eraseEntries,
  };
}
