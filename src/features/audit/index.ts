/** Reads the audit log and deletes old entries; the features that change something write the entries. */

/** Upkeep: deletes the entries that are older than the policy `retentionDays`. */
export { createRetention } from "./retention.ts";
/** `/api/audit-logs`. Each call makes a bound on reads of its own: one for an engine. */
export { createAuditRoutes } from "./routes.ts";
