import { z } from "@hono/zod-openapi";
import { type JsonObject, listOf, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, isTrue, longText, numberOrNull, textOrNull } from "../shapes.ts";
import { describeTool } from "../tool.ts";
import { loginOf, nextPage } from "./api.ts";
import { issueNumber, markdown, pageFields, pageQuery, repositoryFields, title } from "./fields.ts";
import { changedIssue, issueSummary, longestBody } from "./issue-shapes.ts";

export const pullTools = (ask: AskApi): PluginTool[] => [
  listPullRequests(ask),
  getPullRequest(ask),
  createPullRequest(ask),
];

const branch = zText(250).min(1, "must not be empty");

const listPullRequests = (ask: AskApi) =>
  describeTool({
    name: "listPullRequests",
    description:
      "Lists the pull requests of a GitHub repository, newest first. `next` is the next page, null on the last one.",
    input: z.object({
      ...repositoryFields,
      state: z.enum(["open", "closed", "all"]).default("open"),
      base: branch.optional().describe("Only those into this branch."),
      head: branch.optional().describe("Only those from this branch, as account:branch."),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ owner, repo, state, base, head, ...paging }, context) => {
      const answer = await ask(context, {
        path: ["repos", owner, repo, "pulls"],
        query: { state, base, head, ...pageQuery(paging) },
      });
      return { pullRequests: listOf(answer.body).map(pullSummary), next: nextPage(answer, paging) };
    },
  });

const getPullRequest = (ask: AskApi) =>
  describeTool({
    name: "getPullRequest",
    description:
      "Reads a pull request of a GitHub repository with its text and a page of the files that it changes. `next` is the next page of files, null on the last one.",
    input: z.object({
      ...repositoryFields,
      number: issueNumber,
      patches: z.boolean().default(false).describe("Whether to give the changed lines of each file."),
      ...pageFields,
    }),
    writes: false,
    execute: async ({ owner, repo, number, patches, ...paging }, context) => {
      const path = ["repos", owner, repo, "pulls", number];
      const { body } = await ask(context, { path });
      const answer = await ask(context, { path: [...path, "files"], query: pageQuery(paging) });
      const files = listOf(answer.body).map((file) => changedFile(file, patches));
      return { ...wholePull(body), files, next: nextPage(answer, paging) };
    },
  });

const createPullRequest = (ask: AskApi) =>
  describeTool({
    name: "createPullRequest",
    description: "Opens a pull request in a GitHub repository.",
    input: z.object({
      ...repositoryFields,
      title,
      head: branch.describe("The branch with the changes; account:branch when it is in a fork."),
      base: branch.describe("The branch that the changes go into."),
      body: markdown.optional(),
      draft: z.boolean().optional(),
    }),
    writes: true,
    execute: async ({ owner, repo, ...fields }, context) => {
      const { body } = await ask(context, {
        method: "POST",
        path: ["repos", owner, repo, "pulls"],
        json: given(fields),
      });
      return changedIssue(body);
    },
  });

const branchOf = (end: unknown) => textOrNull(objectOf(end).label) ?? textOrNull(objectOf(end).ref);

function pullSummary(value: unknown): JsonObject {
  const pull = objectOf(value);
  const { comments: _, ...summary } = issueSummary(pull);
  return {
    ...summary,
    draft: isTrue(pull.draft),
    head: branchOf(pull.head),
    base: branchOf(pull.base),
    mergedAt: textOrNull(pull.merged_at),
  };
}

function wholePull(value: unknown): JsonObject {
  const pull = objectOf(value);
  return {
    ...pullSummary(pull),
    merged: isTrue(pull.merged),
    mergeable: typeof pull.mergeable === "boolean" ? pull.mergeable : null,
    mergeableState: textOrNull(pull.mergeable_state),
    reviewers: listOf(pull.requested_reviewers).flatMap((user) => loginOf(user) ?? []),
    commits: numberOrNull(pull.commits),
    additions: numberOrNull(pull.additions),
    deletions: numberOrNull(pull.deletions),
    changedFiles: numberOrNull(pull.changed_files),
    body: longText(pull.body, longestBody),
  };
}

const longestPatch = 8_000;

function changedFile(value: unknown, withPatch: boolean): JsonObject {
  const file = objectOf(value);
  return {
    path: textOrNull(file.filename),
    status: textOrNull(file.status),
    additions: numberOrNull(file.additions),
    deletions: numberOrNull(file.deletions),
    ...(withPatch ? { patch: longText(file.patch, longestPatch) } : {}),
  };
}
