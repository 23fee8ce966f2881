import { z } from "@hono/zod-openapi";
import { listOf, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, numberOrNull, textOrNull } from "../shapes.ts";
import { describeTool, zForm } from "../tool.ts";
import { nextPage } from "./api.ts";
import { issueNumber, markdown, names, pageFields, pageQuery, repositoryFields, title } from "./fields.ts";
import { changedIssue, commentOf, isPullRequest, issueSummary, wholeIssue } from "./issue-shapes.ts";

export const issueTools = (ask: AskApi): PluginTool[] => [
  listIssues(ask),
  getIssue(ask),
  createIssue(ask),
  updateIssue(ask),
  commentOnIssue(ask),
];

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const listIssues = (ask: AskApi) =>
  describeTool({
    name: "listIssues",
    description:
      "Lists the issues of a GitHub repository, newest first, without pull requests: a page may hold fewer than perPage. `next` is the next page, null on the last one.",
    input: z.object({
      ...repositoryFields,
      state: z.enum(["open", "closed", "all"]).default("open"),
      labels: names.optional().describe("Only issues with all of these labels."),
      assignee: zText(100).optional().describe("A login; * for any, none for unassigned."),
      since: zForm(time, "must be a time such as 2026-11-23T10:00:00Z")
        .optional()
        .describe("Only issues changed at or after this time, such as 2026-11-23T10:00:00Z."),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ owner, repo, state, labels, assignee, since, ...paging }, context) => {
      const answer = await ask(context, {
        path: ["repos", owner, repo, "issues"],
        query: { state, labels: labels?.join(","), assignee, since, ...pageQuery(paging) },
      });
      const issues = listOf(answer.body).filter((issue) => !isPullRequest(issue));
      return { issues: issues.map(issueSummary), next: nextPage(answer, paging) };
    },
  });

const getIssue = (ask: AskApi) =>
  describeTool({
    name: "getIssue",
    description:
      "Reads an issue of a GitHub repository with its text and a page of its comments, oldest first. `next` is the next page of comments, null on the last one.",
    input: z.object({ ...repositoryFields, number: issueNumber, ...pageFields }),
    writes: false,
    execute: async ({ owner, repo, number, ...paging }, context) => {
      const path = ["repos", owner, repo, "issues", number];
      const { body } = await ask(context, { path });
      const issue = { ...wholeIssue(body), commentCount: numberOrNull(objectOf(body).comments) };
      if (issue.commentCount === 0) return { ...issue, comments: [], next: null };
      const answer = await ask(context, { path: [...path, "comments"], query: pageQuery(paging) });
      return { ...issue, comments: listOf(answer.body).map(commentOf), next: nextPage(answer, paging) };
    },
  });

const createIssue = (ask: AskApi) =>
  describeTool({
    name: "createIssue",
    description: "Opens an issue in a GitHub repository.",
    input: z.object({
      ...repositoryFields,
      title,
      body: markdown.optional(),
      labels: names.optional(),
      assignees: names.optional().describe("Logins."),
    }),
    writes: true,
    execute: async ({ owner, repo, ...fields }, context) => {
      const { body } = await ask(context, {
        method: "POST",
        path: ["repos", owner, repo, "issues"],
        json: given(fields),
      });
      return changedIssue(body);
    },
  });

const updateIssue = (ask: AskApi) =>
  describeTool({
    name: "updateIssue",
    description:
      "Changes an issue of a GitHub repository: only the given fields. `labels` and `assignees` replace the present ones; [] removes all.",
    input: z.object({
      ...repositoryFields,
      number: issueNumber,
      title: title.optional(),
      body: markdown.optional(),
      state: z.enum(["open", "closed"]).optional(),
      stateReason: z
        .enum(["completed", "not_planned", "duplicate", "reopened"])
        .optional()
        .describe("Why the state changes."),
      labels: names.optional(),
      assignees: names.optional().describe("Logins."),
    }),
    writes: true,
    execute: async ({ owner, repo, number, stateReason, ...fields }, context) => {
      const json = given({ ...fields, state_reason: stateReason });
      if (Object.keys(json).length === 0) throw new Error("Nothing to change: give at least one of the fields");
      const { body } = await ask(context, { method: "PATCH", path: ["repos", owner, repo, "issues", number], json });
      return changedIssue(body);
    },
  });

const commentOnIssue = (ask: AskApi) =>
  describeTool({
    name: "commentOnIssue",
    description: "Adds a comment to an issue or a pull request of a GitHub repository.",
    input: z.object({
      ...repositoryFields,
      number: issueNumber,
      body: markdown.min(1, "must not be empty"),
    }),
    writes: true,
    execute: async ({ owner, repo, number, body }, context) => {
      const answer = await ask(context, {
        method: "POST",
        path: ["repos", owner, repo, "issues", number, "comments"],
        json: { body },
      });
      const comment = objectOf(answer.body);
      return { id: numberOrNull(comment.id), url: textOrNull(comment.html_url) };
    },
  });
