import type { JsonObject, JsonValue } from "../../src/core/json.ts";
import type { Plugin, PluginAnswer, PluginContext, PluginRequest } from "../../src/core/plugins/plugin.ts";

interface Canned {
  status?: number;
  headers?: Record<string, string>;
  /** A text is sent unchanged; other values as JSON; absent for an empty body. */
  body?: JsonValue;
}

/** The time of every call. */
const now = Date.parse("2026-11-23T10:00:00Z");

interface Options {
  plugin: Plugin;
  secrets: Record<string, string>;
  /** Answers by method and path, such as `GET /repos/acme/shop/issues`, or their failures; all others are 404. */
  answers: Record<string, Canned | Error>;
}

/** Calls the tools of a plugin against canned answers, and records their requests. */
export function fakeService({ plugin, secrets, answers }: Options) {
  const asked: PluginRequest[] = [];
  const unused = async () => Promise.reject(new Error("These tools store no files"));
  const context: PluginContext = {
    signal: new AbortController().signal,
    secrets,
    agent: { slug: "support", name: "Support", timezone: "UTC" },
    conversationId: null,
    now: () => now,
    request: async (request) => {
      asked.push(request);
      const { host, pathname } = new URL(request.url);
      if (!plugin.hosts.includes(host)) throw new Error(`${host} is no host of the plugin`);
      const answer = answers[`${request.method ?? "GET"} ${pathname}`] ?? { status: 404, body: {} };
      if (answer instanceof Error) throw answer;
      return answerOf(answer);
    },
    saveFile: unused,
    linkFile: unused,
  };
  return {
    asked,
    /** The last request. */
    last: (): PluginRequest => {
      const request = asked.at(-1);
      if (!request) throw new Error("Nothing was asked");
      return request;
    },
    call: async (name: string, args: JsonObject): Promise<JsonValue> => {
      const tool = plugin.tools.find((one) => one.name === name);
      if (!tool) throw new Error(`There is no tool ${name}`);
      return tool.execute(args, context);
    },
  };
}

function answerOf({ status = 200, headers = {}, body }: Canned): PluginAnswer {
  return { status, headers, body: body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body) };
}
