import { listOf, objectOf, textOf } from "../../core/json.ts";
import { type ApiAnswer, type AskApi, jsonApi } from "../json-api.ts";
import { textOrNull } from "../shapes.ts";
import type { Paging } from "./fields.ts";

export const tokenKey = "github_token";

/** The version of GitHub's REST API that the tools are written for. */
const apiVersion = "2022-11-28";

export const githubApi = (baseUrl: string): AskApi =>
  jsonApi({
    name: "GitHub",
    secret: tokenKey,
    baseUrl,
    headers: {
      accept: "application/vnd.github+json",
      "x-github-api-version": apiVersion,
      "user-agent": "agent-engine",
    },
    wordsOf: (body) => [textOf(body.message), ...listOf(body.errors).map(problemOf)].filter(Boolean).join("; "),
    lacksOf: ({ headers }) => headers["x-accepted-github-permissions"] ?? scopesOf(headers["x-accepted-oauth-scopes"]),
  });

const scopesOf = (scopes = "") => (scopes === "" ? "" : `one of the scopes ${scopes}`);

/** A problem in a 422: its text, or its field and its code. */
function problemOf(problem: unknown): string {
  if (typeof problem === "string") return problem;
  const { message, resource, field, code } = objectOf(problem);
  return textOf(message) || [resource, field, code].map(textOf).filter(Boolean).join(" ");
}

/** The number of the next page, from the response's `Link`; null on the last page. */
export function nextPage({ headers }: ApiAnswer, { page }: Paging): number | null {
  return /\brel="next"/.test(headers.link ?? "") ? page + 1 : null;
}

export const loginOf = (user: unknown): string | null => textOrNull(objectOf(user).login);
