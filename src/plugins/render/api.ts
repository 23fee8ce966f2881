import { z } from "@hono/zod-openapi";
import { listOf, objectOf, textOf } from "../../core/json.ts";
import { zText } from "../../core/text/text.ts";
import { type ApiAnswer, type AskApi, jsonApi } from "../json-api.ts";
import { textOrNull } from "../shapes.ts";
import { zForm } from "../tool.ts";

export const keyName = "render_api_key";

export const renderApi = (baseUrl: string): AskApi =>
  jsonApi({
    name: "Render",
    secret: keyName,
    baseUrl,
    headers: { accept: "application/json", "user-agent": "agent-engine" },
    wordsOf: (body) => textOf(body.message),
  });

/** A page of a list in which each item has a cursor. The last cursor of a full page leads to the next page. */
export function pageOf<Item>({ body }: ApiAnswer, limit: number, itemOf: (row: unknown) => Item) {
  const rows = listOf(body);
  const next = rows.length < limit ? null : textOrNull(objectOf(rows.at(-1)).cursor);
  return { items: rows.map(itemOf), next };
}

const id = (example: string) =>
  zForm(/^[a-z]{2,8}-[a-zA-Z0-9-]{1,64}$/, `must be an id such as ${example}`).describe(`Such as ${example}.`);

export const serviceId = id("srv-cukouhrtq21c73e9scng");
export const deployId = id("dep-cukouhrtq21c73e9scn0");

export const pageFields = {
  limit: z.int().min(1).max(100).default(20),
  cursor: zText(1_000).min(1, "must not be empty").optional().describe("Take `next` of the page before."),
};
