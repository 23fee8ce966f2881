import { z } from "@hono/zod-openapi";
import { type JsonObject, listOf, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { ApiAnswer, AskApi } from "../json-api.ts";
import { isTrue, longText, numberOrNull, textOrNull } from "../shapes.ts";
import { describeTool } from "../tool.ts";
import { nextPage } from "./api.ts";
import { type Paging, pageFields, pageQuery } from "./fields.ts";
import { isPullRequest, issueSummary } from "./issue-shapes.ts";

export const searchTools = (ask: AskApi): PluginTool[] => [searchIssues(ask), searchCode(ask)];

const query = zText(256).min(1, "must not be empty");

const searchIssues = (ask: AskApi) =>
  describeTool({
    name: "searchIssues",
    description:
      "Searches issues and pull requests on GitHub by words and qualifiers. `next` is the next page, null on the last one; GitHub gives at most 1000 results.",
    input: z.object({
      query: query.describe("Such as: repo:octocat/Hello-World is:issue is:open label:bug crash"),
      sort: z.enum(["created", "updated", "comments"]).optional().describe("By how well they match when absent."),
      order: z.enum(["desc", "asc"]).optional(),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ query, sort, order, ...paging }, context) => {
      const answer = await ask(context, {
        path: ["search", "issues"],
        query: { q: query, sort, order, ...pageQuery(paging) },
      });
      return found(answer, paging, foundIssue);
    },
  });

const searchCode = (ask: AskApi) =>
  describeTool({
    name: "searchCode",
    description:
      "Searches the default branches of repositories on GitHub for code, by words and qualifiers, with the lines that match. `next` is the next page, null on the last one.",
    input: z.object({
      query: query.describe("Such as: addClass repo:jquery/jquery language:js path:src"),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ query, ...paging }, context) => {
      const answer = await ask(context, {
        path: ["search", "code"],
        query: { q: query, ...pageQuery(paging) },
        headers: { accept: "application/vnd.github.text-match+json" },
      });
      return found(answer, paging, foundCode);
    },
  });

function found(answer: ApiAnswer, paging: Paging, shape: (item: unknown) => JsonObject): JsonObject {
  const body = objectOf(answer.body);
  return {
    total: numberOrNull(body.total_count),
    incomplete: isTrue(body.incomplete_results),
    items: listOf(body.items).map(shape),
    next: nextPage(answer, paging),
  };
}

function foundIssue(value: unknown): JsonObject {
  const address = textOrNull(objectOf(value).repository_url);
  return {
    type: isPullRequest(value) ? "pull request" : "issue",
    repository: address?.split("/").slice(-2).join("/") ?? null,
    ...issueSummary(value),
  };
}

const longestFragment = 1_000;

function foundCode(value: unknown): JsonObject {
  const file = objectOf(value);
  return {
    repository: textOrNull(objectOf(file.repository).full_name),
    path: textOrNull(file.path),
    url: textOrNull(file.html_url),
    matches: listOf(file.text_matches).flatMap((match) => longText(objectOf(match).fragment, longestFragment) ?? []),
  };
}
