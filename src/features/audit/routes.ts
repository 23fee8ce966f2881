import { createBoundedReads } from "../../db/bounded-reads.ts";
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
    "Of the addressed organization, newest first. What changed nothing is no entry; what a known caller was refused with 403 is one (`access.refuse`), of each caller at most 20 in ten minutes. Owners of the first organization also see there what belongs to none, such as failed sign-ins of unknown accounts. How long entries are kept is the policy `retentionDays`. The log and its numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.",
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
    "Counts over a period of at most 366 days; the last 30 days in UTC, with today, unless given. Of the same entries as the log itself, and with the same 429.",
  request: { query: AuditStatsQuery },
  responses: { 200: json(AuditStats, "The counts.") },
});

/** `/api/audit-logs`. Both routes share one limit of reads. */
export function createAuditRoutes() {
  const readLog = createBoundedReads({ what: "the audit log", query: "audit" });
  return router()
    .openapi(list, async (c) => c.json(await listEntries(c.var.ctx, readLog, c.req.valid("query")), 200))
    .openapi(stats, async (c) => c.json(await readStats(c.var.ctx, readLog, c.req.valid("query")), 200));
}
