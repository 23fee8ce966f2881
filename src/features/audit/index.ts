/** The audit log: reading it, and forgetting what is too old. Entries are written where things happen. */

/** Upkeep: deletes what is older than the policy `retentionDays` says. */
export { createRetention } from "./retention.ts";
/** `/api/audit-logs`, with the bound on readings of one engine. */
export { createAuditRoutes } from "./routes.ts";
