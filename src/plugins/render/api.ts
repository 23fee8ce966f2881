import { listOf, objectOf, textOf } from "../../core/json.ts";
import { type ApiAnswer, type AskApi, jsonApi } from "../json-api.ts";
import { textOrNull } from "../shapes.ts";

export const keyName = "render_api_key";

export const renderApi = (baseUrl: string): AskApi =>
  jsonApi({
    name: "Render",
    secret: keyName,
    baseUrl,
    headers: { accept: "application/json", "user-agent": "agent-engine" },
    wordsOf: (body) => textOf(body.message),
  });

/** A page of a list whose items each have a cursor. A full page's last cursor is the next page's. */
export function pageOf<Item>({ body }: ApiAnswer, limit: number, itemOf: (row: unknown) => Item) {
  const rows = listOf(body);
  const next = rows.length < limit ? null : textOrNull(objectOf(rows.at(-1)).cursor);
  return { items: rows.map(itemOf), next };
}
