import { type JsonObject, type JsonValue, listOf, objectOf } from "../../core/json.ts";
import type { PluginContext } from "../../core/plugins/plugin.ts";
import type { ApiAnswer, ApiRequest, AskApi } from "../json-api.ts";
import { given, longText, numberOrNull, textOrNull } from "../shapes.ts";
import type { Search } from "./fields.ts";

/** A kind of record: its name in paths, and the properties that every read requests. */
export interface Kind {
  name: "contacts" | "deals";
  properties: readonly string[];
}

const objects = ["crm", "v3", "objects"] as const;

/** The path of a kind's records, or of `rest` below it. */
export const recordsPath = (kind: string, ...rest: string[]): ApiRequest["path"] => [...objects, kind, ...rest];

/** A page of matching records. In HubSpot's searches, new and changed records appear some seconds late. */
export async function searchRecords(ask: AskApi, context: PluginContext, kind: Kind, search: Search) {
  const { query, filters, sortBy, descending, properties, limit, after } = search;
  const filterGroups = filters.map(({ property, ...rest }) => given({ propertyName: property, ...rest }));
  const answer = await ask(context, {
    method: "POST",
    writes: false,
    path: recordsPath(kind.name, "search"),
    json: given({
      query,
      filterGroups: filters.length === 0 ? undefined : [{ filters: filterGroups }],
      sorts: sortBy === undefined ? undefined : [sortOf(sortBy, descending)],
      properties: wanted(kind, properties),
      limit,
      after,
    }),
  });
  return pageOf(answer, recordOf);
}

export const sortOf = (propertyName: string, descending: boolean): JsonObject => ({
  propertyName,
  direction: descending ? "DESCENDING" : "ASCENDING",
});

/** A page of a search; `next` continues the search. */
export function pageOf({ body }: ApiAnswer, shape: (value: unknown) => JsonObject): JsonObject {
  const { total, results, paging } = objectOf(body);
  const next = objectOf(objectOf(paging).next).after;
  return { total: numberOrNull(total), results: listOf(results).map(shape), next: textOrNull(next) };
}

export const wanted = ({ properties }: Kind, more: readonly string[]): string[] => [
  ...new Set([...properties, ...more]),
];

const longestValue = 5_000;

export function recordOf(value: unknown): JsonObject {
  const record = objectOf(value);
  const properties = Object.entries(objectOf(record.properties)).filter(([name]) => name !== "hs_object_id");
  return {
    id: textOrNull(record.id),
    url: textOrNull(record.url),
    properties: Object.fromEntries(properties.map(([name, text]) => [name, longText(text, longestValue)])),
    createdAt: textOrNull(record.createdAt),
    updatedAt: textOrNull(record.updatedAt),
  };
}

/** The ids of the associated records of a kind. A record with several labels is listed once. */
export function associatedWith(value: unknown, kind: string): string[] {
  const { results } = objectOf(objectOf(objectOf(value).associations)[kind]);
  return [...new Set(listOf(results).flatMap((one) => textOrNull(objectOf(one).id) ?? []))];
}

/** Associations of a new record, of types that HubSpot itself defines. */
export const associationsTo = (ids: readonly string[], associationTypeId: number): JsonValue[] =>
  ids.map((id) => ({ to: { id }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId }] }));
