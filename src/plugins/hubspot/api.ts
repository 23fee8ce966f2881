import { listOf, objectOf, textOf } from "../../core/json.ts";
import { type AskApi, jsonApi } from "../json-api.ts";

export const tokenKey = "hubspot_access_token";

export const hubspotApi = (baseUrl: string): AskApi =>
  jsonApi({
    name: "HubSpot",
    secret: tokenKey,
    baseUrl,
    headers: { accept: "application/json", "user-agent": "agent-engine" },
    wordsOf: (body) =>
      [body.message, ...detailsOf(body).map(({ message }) => message)].map(textOf).filter(Boolean).join("; "),
    lacksOf: (_, body) => scopesOf(body),
  });

const detailsOf = (body: unknown) => listOf(objectOf(body).errors).map(objectOf);

/** The scopes that a 403 names. */
function scopesOf(body: unknown): string {
  const contexts = [objectOf(body), ...detailsOf(body)].map(({ context }) => objectOf(context));
  const scopes = contexts.flatMap((one) => [...listOf(one.requiredGranularScopes), ...listOf(one.missingScopes)]);
  const names = scopes.map(textOf).filter(Boolean);
  return names.length === 0 ? "" : `the scope ${names.join(" or ")}`;
}
