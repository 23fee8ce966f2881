import { type JsonObject, listOf, objectOf } from "../../core/json.ts";
import { longText, namesOf, numberOrNull, textOrNull } from "../shapes.ts";
import { loginOf } from "./api.ts";

export const longestBody = 20_000;
const longestComment = 5_000;

const labelName = (label: unknown) => objectOf(label).name;

/** An issue as in lists: the fields that issues and pull requests share. */
export function issueSummary(value: unknown): JsonObject {
  const issue = objectOf(value);
  return {
    number: numberOrNull(issue.number),
    title: textOrNull(issue.title),
    state: textOrNull(issue.state),
    url: textOrNull(issue.html_url),
    author: loginOf(issue.user),
    labels: namesOf(issue.labels, labelName),
    assignees: listOf(issue.assignees).flatMap((user) => loginOf(user) ?? []),
    comments: numberOrNull(issue.comments),
    createdAt: textOrNull(issue.created_at),
    updatedAt: textOrNull(issue.updated_at),
  };
}

/** Whether an issue is a pull request: GitHub's lists of issues contain those, too. */
export const isPullRequest = (issue: unknown): boolean => objectOf(issue).pull_request !== undefined;

export function wholeIssue(value: unknown): JsonObject {
  const issue = objectOf(value);
  return {
    ...issueSummary(issue),
    type: isPullRequest(issue) ? "pull request" : "issue",
    stateReason: textOrNull(issue.state_reason),
    milestone: textOrNull(objectOf(issue.milestone).title),
    closedAt: textOrNull(issue.closed_at),
    body: longText(issue.body, longestBody),
  };
}

/** The result of a change of an issue or a pull request. */
export function changedIssue(value: unknown): JsonObject {
  const { number, title, state, url } = issueSummary(value);
  return { number: number ?? null, title: title ?? null, state: state ?? null, url: url ?? null };
}

export function commentOf(value: unknown): JsonObject {
  const comment = objectOf(value);
  return {
    author: loginOf(comment.user),
    createdAt: textOrNull(comment.created_at),
    url: textOrNull(comment.html_url),
    body: longText(comment.body, longestComment),
  };
}
