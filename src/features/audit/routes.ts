import { guarded, json, router } from "../../http/route.ts";
import { AuditPage, AuditQuery, AuditStats, AuditStatsQuery } from "./schema.ts";
import { listEntries } from "./service.ts";
import { readStats } from "./stats.ts";

const tags = ["Audit log"];

const list = guarded("audit_log:read", {
  method: "get",
  path: "/api/audit-logs",
  operationId: "listAuditLogs",
  tags,
  summary: "Who did what",
  description:
    "Of the addressed organization, newest first. Owners of the first organization also see there what belongs to none, such as failed sign-ins of unknown accounts. How long entries are kept is the policy `retentionDays`.",
  request: { query: AuditQuery },
  responses: { 200: json(AuditPage, "A page of the log.") },
});

const stats = guarded("audit_log:read", {
  method: "get",
  path: "/api/audit-logs/stats",
  operationId: "getAuditStats",
  tags,
  summary: "The audit log in numbers",
  description:
    "Counts over a period of at most 366 days; the last 30 days in UTC, with today, unless given. Of the same entries as the log itself.",
  request: { query: AuditStatsQuery },
  responses: { 200: json(AuditStats, "The counts.") },
});

/** `/api/audit-logs`. */
export const auditRoutes = router()
  .openapi(list, async (c) => c.json(await listEntries(c.var.ctx, c.req.valid("query")), 200))
  .openapi(stats, async (c) => c.json(await readStats(c.var.ctx, c.req.valid("query")), 200));
