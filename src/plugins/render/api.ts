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

/** A page of a list, in which each item has its cursor beside it. The cursor of a full page's last item is the next. */
export function pageOf<Item>({ body }: ApiAnswer, limit: number, itemOf: (row: unknown) => Item) {
  const rows = listOf(body);
  const next = rows.length < limit ? null : textOrNull(objectOf(rows.at(-1)).cursor);
  return { items: rows.map(itemOf), next };
}
