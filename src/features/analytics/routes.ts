import { createBoundedReads } from "../../db/bounded-reads.ts";
import { errorAnswers, guarded, json, router } from "../../http/route.ts";
import { slugParam } from "../agents/index.ts";
import { readBudgets } from "./budgets.ts";
import { readNow } from "./now.ts";
import { readAnalytics } from "./overview.ts";
import { Analytics, AnalyticsNow, AnalyticsQuery, Budgets, UsagePage, UsageQuery } from "./schema.ts";
import { readTokens } from "./usage.ts";

const tags = ["Analytics"];

const period =
  "The period is at most 366 days; without `from` and `to` it is the last 30 days in UTC, with today. Turns count when they began, and are there as soon as they do; their tokens and times once they ended. Calls of the background, such as memories and titles, are no turns. The numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.";

const all = guarded("analytics:read", {
  method: "get",
  path: "/api/analytics",
  operationId: "getAnalytics",
  tags,
  summary: "What agents did",
  description: `Turns, conversations, users, tokens, channels, models, tools and latencies of all agents that the caller reaches. ${period}`,
  request: { query: AnalyticsQuery },
  responses: { 200: json(Analytics, "The numbers.") },
});

const ofAgent = guarded("analytics:read", {
  method: "get",
  path: "/api/instances/{slug}/analytics",
  operationId: "getInstanceAnalytics",
  tags,
  summary: "What an agent did",
  description: `The same numbers of one agent. ${period}`,
  request: { params: slugParam, query: AnalyticsQuery },
  responses: { 200: json(Analytics, "The numbers."), ...errorAnswers(404) },
});

const tokens = guarded("analytics:read", {
  method: "get",
  path: "/api/analytics/usage",
  operationId: "getUsage",
  tags,
  summary: "What it cost",
  description: `The tokens and costs of turns by agent, by end user, by model or by day. An end user of several agents is one, by name. ${period}`,
  request: { query: UsageQuery },
  responses: { 200: json(UsagePage, "A page of the numbers."), ...errorAnswers(404) },
});

const now = guarded("analytics:read", {
  method: "get",
  path: "/api/analytics/now",
  operationId: "getAnalyticsNow",
  tags,
  summary: "What runs, and what failed lately",
  description:
    "The turns that run or wait at this moment, and what failed in the last 24 hours, of all agents that the caller reaches. It is read by two callers at a time, on each replica; when eight more wait, the next gets 429.",
  responses: { 200: json(AnalyticsNow, "What runs and what failed.") },
});

const budgets = guarded("analytics:read", {
  method: "get",
  path: "/api/analytics/budgets",
  operationId: "getBudgets",
  tags,
  summary: "What is left of the budgets",
  description:
    "This month's budgets of the agents that the caller reaches and of their end users, and what is used of them. They are read by two callers at a time, on each replica; when eight more wait, the next gets 429.",
  responses: { 200: json(Budgets, "The budgets.") },
});

/** `/api/analytics`, and the figures of one agent. All routes share one limit of reads. */
export function createAnalyticsRoutes() {
  const reads = createBoundedReads({ what: "the analytics", query: "analytics" });
  return router()
    .openapi(all, async (c) => c.json(await readAnalytics(c.var.ctx, reads, c.req.valid("query")), 200))
    .openapi(ofAgent, async (c) => {
      const { slug } = c.req.valid("param");
      return c.json(await readAnalytics(c.var.ctx, reads, c.req.valid("query"), slug), 200);
    })
    .openapi(now, async (c) => c.json(await readNow(c.var.ctx, reads), 200))
    .openapi(budgets, async (c) => c.json(await readBudgets(c.var.ctx, reads), 200))
    .openapi(tokens, async (c) => c.json(await readTokens(c.var.ctx, reads, c.req.valid("query")), 200));
}
