import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import { createRetention } from "./retention.ts";
import { createAuditRoutes } from "./routes.ts";

/**
 * `/api/audit-logs`, and the deletion of entries older than the policy `retentionDays`. The features that change
 * something write the entries.
 */
export function auditFeature(services: Services): Contribution {
  return { routes: [createAuditRoutes()], ticks: { seldom: createRetention(services) } };
}
