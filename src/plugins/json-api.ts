import { type JsonObject, type JsonValue, objectOf, parseJson } from "../core/json.ts";
import type { PluginAnswer, PluginContext } from "../core/plugins/plugin.ts";
import { scrubJson } from "../core/scrub/json.ts";
import { type Scrub, scrubber } from "../core/scrub/scrub.ts";
import { oneLine } from "../core/text/text.ts";
import { explainRefusal, mayBeDone, type Service } from "./refusals.ts";

interface Options extends Service {
  /** The service's address, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** Headers of each request, besides the token. */
  headers: Readonly<Record<string, string>>;
  /** The service's error text in the body of a refusal. */
  wordsOf(body: JsonObject): string;
  /** The text of a 403 about missing rights; empty for none. */
  lacksOf?(answer: PluginAnswer, body: JsonObject): string;
}

export interface ApiRequest {
  method?: "GET" | "POST" | "PUT" | "PATCH";
  /** Whether the request changes something; by default every method but GET does. */
  writes?: boolean;
  /** The parts of the path. Each is encoded, so that none can change the path's structure. */
  path: readonly (string | number)[];
  query?: Readonly<Record<string, QueryValue>>;
  json?: JsonValue;
  headers?: Readonly<Record<string, string>>;
}

type QueryValue = string | number | undefined;

export interface ApiAnswer {
  status: number;
  headers: PluginAnswer["headers"];
  /** Null for an empty response. The token is removed from it. */
  body: JsonValue;
  /** Removes the token from a text that the tool itself decodes. */
  scrub: Scrub;
}

/** Sends a request to a service; throws an `Error` that says what was refused, and what to do. */
export type AskApi = (context: PluginContext, request: ApiRequest) => Promise<ApiAnswer>;

/** The deepest nesting of a response; no service nests this deep. */
const levels = 100;

const longestWords = 500;

export function jsonApi(options: Options): AskApi {
  const { name, secret, headers, wordsOf, lacksOf } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  return async (context, request) => {
    const token = context.secrets[secret]?.trim();
    if (!token)
      throw new Error(`The secret ${secret} is not configured for this agent; an administrator must store it`);
    const { method = "GET", writes = method !== "GET", path, query = {}, json } = request;
    const asked = context.request({
      url: `${baseUrl}/${pathOf(path)}${queryOf(query)}`,
      method,
      headers: { ...headers, ...request.headers, authorization: `Bearer ${token}` },
      ...(json === undefined ? {} : { json }),
    });
    const answer = await (writes ? asked.catch(warnOfChange) : asked);
    const scrub = scrubber([token]);
    if (answer.status >= 200 && answer.status < 300) {
      const body = answer.body.trim() === "" ? null : bodyOf(answer.body);
      if (body === undefined) throw new Error(`${name} answered ${answer.status} with something that is not JSON`);
      return { status: answer.status, headers: answer.headers, body: scrubJson(body, scrub), scrub };
    }
    const refusal = objectOf(scrubJson(bodyOf(answer.body) ?? null, scrub));
    const words = oneLine(wordsOf(refusal), longestWords);
    const lacks = oneLine(scrub(lacksOf?.(answer, refusal) ?? ""), longestWords);
    throw new Error(explainRefusal({ name, secret }, { answer, writes, words, lacks, now: context.now() }));
  };
}

/** Adds a warning when a response was lost: a model that takes it for a refusal would write a second time. */
function warnOfChange(error: unknown): never {
  throw new Error(`${error instanceof Error ? error.message : "There was no answer"}. ${mayBeDone}`);
}

/** The host of an address for `Plugin.hosts`, always with a port: without a port, only https would be allowed. */
export function hostOf(baseUrl: string): string {
  const { protocol, host, port } = new URL(baseUrl);
  return protocol === "http:" && port === "" ? `${host}:80` : host;
}

function bodyOf(text: string): JsonValue | undefined {
  try {
    return parseJson(text, levels) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Encodes the parts. Refuses parts such as `..`, which would change the path even when encoded. */
function pathOf(parts: ApiRequest["path"]): string {
  return parts.map((part) => encodePart(String(part))).join("/");
}

function encodePart(part: string): string {
  if (/^\.{0,2}$/.test(part)) throw new Error(`"${part}" cannot be a part of a path`);
  if (!part.isWellFormed()) throw new Error("A part of a path holds half a character");
  return encodeURIComponent(part);
}

function queryOf(query: Readonly<Record<string, QueryValue>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}
