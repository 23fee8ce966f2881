import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { createEgress } from "../../../src/adapters/node/egress/request.ts";
import { type Edition, editionOf } from "../../../src/core/edition.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Plugin, PluginContext } from "../../../src/core/plugins/plugin.ts";
import type { Mcp } from "../../../src/core/ports.ts";
import { files } from "../../../src/db/schema.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { storeServer, weather } from "../tools/plugins/weather.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";
import { calling, service, toldIn } from "./family.ts";

const key = "canary-of-the-weather-service";

/** An agent with these tools on, and the key of the weather service. */
async function served(
  model: ReturnType<typeof calling>,
  plugins: Plugin[],
  enabled: string[],
  options: { edition?: Edition } = {},
) {
  const h = await chatHarness(model, {}, { plugins, egress: createEgress({ clock: systemClock }), ...options });
  const { slug, headers } = h.agent;
  const send = async (method: string, path: string, json: object) =>
    expect((await h.request(`/api/instances/${slug}${path}`, { method, headers, json })).ok).toBe(true);
  await send("PUT", "/secrets", { secrets: [{ key: "weather_key", value: key }] });
  await send("PATCH", "/tools", { enabled });
  return { ...h, send };
}

/** A family of the weather's whose only tool runs this. */
const acting = (execute: (args: JsonObject, context: PluginContext) => unknown, fields: Partial<Plugin> = {}): Plugin =>
  weather("http://127.0.0.1:1", {
    tools: [
      {
        name: "act",
        description: "Acts.",
        effect: "none",
        needsApproval: false,
        parameters: { type: "object", properties: {} },
        execute: async (args, context) => (await execute(args, context)) as JsonObject,
      },
    ],
    ...fields,
  });

const everything = async (h: ChatHarness, ...more: unknown[]) => JSON.stringify([await h.stored(), h.logs, ...more]);

describe("a turn", () => {
  test("calls a plugin's tool with the agent's secret, which is seen nowhere else", async () => {
    const { asked, base } = await service(({ headers }) => ({ body: `{"sky":"clear","as":"${headers["x-key"]}"}` }));
    const model = calling(["weather__forecast", { city: "Zürich?x=1" }], ["weather__forecast", { town: "Bern" }]);
    const h = await served(model, [weather(base)], ["weather:forecast"]);
    const events = await readEvents(await h.native("Weather?", { chat_id: "c" }));
    expect(asked).toEqual([
      { method: "GET", url: "/forecast?city=Z%C3%BCrich%3Fx%3D1", headers: expect.objectContaining({ "x-key": key }) },
    ]);
    expect(model.calls[0]?.options.tools).toMatchObject([
      { name: "weather__forecast", description: "Tells the weather of a city.", inputSchema: { required: ["city"] } },
    ]);
    const missing = { error: expect.stringMatching(/^The arguments are not valid: .*city/) };
    expect(toldIn(model.calls[1])).toEqual([{ sky: "clear", as: "[secret]" }, missing]);
    expect(events.find(({ event }) => event === "tool-call")?.data).toMatchObject({ name: "weather:forecast" });
    expect(await everything(h, events, model.calls)).not.toContain(key);
  });

  test("has the tools of a package until the organization turns it off, and again once it is on", async () => {
    const edition = editionOf({ EDITION: "managed", FEATURES: ["administration"] });
    const model = scriptedModel(() => reply("ok"));
    const h = await served(model, [weather()], ["weather:forecast"], { edition });
    const toolsWhile = async (enabled: boolean) => {
      const path = "/api/organizations/acme/plugin-packages/weather";
      const saved = await h.request(path, { method: "PUT", headers: h.agent.headers, json: { enabled } });
      expect(saved.status).toBe(200);
      await readEvents(await h.native("Weather?", { chat_id: "c" }));
      return model.calls.at(-1)?.options.tools?.map(({ name }) => name) ?? [];
    };
    expect([await toolsWhile(true), await toolsWhile(false), await toolsWhile(true)]).toEqual([
      ["weather__forecast"],
      [],
      ["weather__forecast"],
    ]);
  });

  test("stops at a tool that asks for approval, and makes the call once it is approved", async () => {
    const model = calling(["weather__order", { city: "Bern" }]);
    const h = await served(model, [weather()], ["weather:order"]);
    const events = await readEvents(await h.native("Rain!", { chat_id: "c" }));
    const { approval } = events.at(-1)?.data.metadata as { approval: { toolCallId: string } };
    const path = `/api/conversations/${encodeURIComponent(`${h.agent.slug}:web:api-c`)}/approvals/${approval.toolCallId}`;
    const decided = await h.request(path, { method: "POST", headers: h.agent.headers, json: { approved: true } });
    expect(decided.status).toBe(201);
    await eventually(async () => (await h.stored()).messages.length > 2);
    expect(toldIn(model.calls[1])).toEqual([{ rain: "Bern" }]);
  });

  test("has a hook call a plugin's tool", async () => {
    const { asked, base } = await service(() => ({ body: '{"sky":"grey"}' }));
    const model = scriptedModel([reply("Hello.")]);
    const h = await served(model, [weather(base)], []);
    const hook = {
      actionType: "tool",
      actionConfig: { toolName: "weather:forecast", args: { city: "{{user.name}}" } },
    };
    await h.send("POST", "/hooks", { event: "message_received", ...hook });
    await (await h.native("Hi", { chat_id: "c" })).text();
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(model.calls[0]?.prompt)).toContain("grey");
  });

  test("tells the model which secret is missing", async () => {
    const model = calling(["weather__forecast", { city: "Bern" }]);
    const h = await served(model, [weather()], ["weather:forecast"]);
    const { slug, headers } = h.agent;
    await h.request(`/api/instances/${slug}/secrets/weather_key`, { method: "DELETE", headers });
    await (await h.native("Weather?")).text();
    expect(toldIn(model.calls[1])).toEqual([
      {
        error: `Weather can't be used yet: somebody has to store the agent's secret weather_key first (PUT /api/instances/${slug}/secrets)`,
      },
    ]);
  });

  test("hands a tool the declared secrets, the agent and the time, and nothing that it could spoil", async () => {
    const seen: unknown[] = [];
    const family = acting((args, { secrets, agent, conversationId, now }) => {
      seen.push({ secrets, agent, conversationId, now: now() });
      args.city = "changed";
      expect(() => Object.assign(secrets, { more: "1" })).toThrow();
      return null;
    });
    const model = calling(["weather__act", { city: "Bern" }]);
    const h = await served(model, [family], ["weather:act"]);
    await h.send("PUT", "/secrets", { secrets: [{ key: "other_key", value: "another secret" }] });
    await (await h.native("Go", { chat_id: "c" })).text();
    expect(seen).toEqual([
      {
        secrets: { weather_key: key },
        agent: { slug: h.agent.slug, name: expect.any(String), timezone: "UTC" },
        conversationId: `${h.agent.slug}:web:api-c`,
        now: h.clock.now(),
      },
    ]);
    const { messages } = await h.stored();
    expect(JSON.stringify(messages)).toContain('"city":"Bern"');
  });

  test("shows a plugin's setting that is not sensitive, also a short one", async () => {
    const model = calling(["weather__act", {}]);
    const h = await served(model, [acting((_, { secrets }) => `in ${secrets.weather_units} units`)], ["weather:act"]);
    await h.send("PUT", "/secrets", { secrets: [{ key: "weather_units", value: "metric" }] });
    await (await h.native("Go")).text();
    expect(toldIn(model.calls[1])).toEqual(["in metric units"]);
  });
});

describe("a request of a plugin", () => {
  const forecast = async (base: string, hosts: string[]) => {
    const model = calling(["weather__forecast", { city: "Bern" }]);
    const h = await served(model, [weather(base, { hosts })], ["weather:forecast"]);
    await (await h.native("Weather?")).text();
    return { h, told: toldIn(model.calls[1]) };
  };

  test("to a host that it does not declare is refused", async () => {
    const { asked, base } = await service(() => ({}));
    const port = new URL(base).port;
    const others = ["127.0.0.1", "127.0.0.1:1", `*.0.0.1:${port}x`, "*.example.com", `localhost:${port}`];
    const { told } = await forecast(base, others);
    expect(told).toEqual([{ error: "The plugin weather may not ask 127.0.0.1: it declares no such host" }]);
    expect(asked).toEqual([]);
  });

  test("to a private address needs the exact host; one below a wildcard must be public", async () => {
    const { asked, base } = await service(() => ({}));
    const { told } = await forecast(base.replace("127.0.0.1", "a.localhost"), [`*.localhost:${new URL(base).port}`]);
    expect(told).toEqual([{ error: expect.stringContaining("not public") }]);
    expect(asked).toEqual([]);
  });

  test("follows a redirect within its host, and carries no secret to another", async () => {
    const thief = await service(() => ({ body: '{"stolen":true}' }));
    const { asked, base } = await service(({ url }) =>
      url?.startsWith("/forecast")
        ? { status: 307, headers: { Location: "/moved" } }
        : { status: 307, headers: { Location: `${thief.base}/` } },
    );
    const { told } = await forecast(base, [new URL(base).host, new URL(thief.base).host]);
    expect(asked.map(({ url }) => url)).toEqual(["/forecast?city=Bern", "/moved"]);
    expect(thief.asked).toEqual([]);
    expect(told).toEqual([{ error: "The weather service answered 307" }]);
  });
});

describe("a broken plugin", () => {
  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic.self = [cyclic, cyclic];
  const shared = Array.from({ length: 30 }).reduce<unknown>((inner) => [inner, inner], "x");

  test.each<[string, () => unknown, unknown]>([
    ["throws", () => Promise.reject(new Error(`no luck with ${key}`)), { error: "no luck with [secret]" }],
    ["throws a text", () => Promise.reject("no luck"), { error: "no luck" }],
    ["throws nothing", () => Promise.reject(undefined), { error: "The tool failed without saying why" }],
    [
      "throws something odd",
      () => Promise.reject(Object.assign(new Error(), { message: 5 })),
      { error: "The tool failed without saying why" },
    ],
    [
      "gives nothing",
      () => undefined,
      { error: expect.stringMatching(/^The tool's result is no JSON value but undefined/) },
    ],
    [
      "gives what is no JSON",
      () => ({ items: [{ at: new Date(0) }] }),
      { error: expect.stringMatching(/^items\.0\.at in the tool's result is no JSON value but an object of a class/) },
    ],
    ["gives a big integer", () => ({ n: 1n }), { error: expect.stringContaining("but bigint") }],
    ["gives not a number", () => [Number.NaN], { error: expect.stringContaining("but NaN") }],
    ["gives a cycle", () => cyclic, { error: "The tool's result is nested too deeply, or holds itself" }],
    ["gives the same part a million times", () => shared, { error: expect.stringContaining("larger than 1 MiB") }],
    ["gives 10 MB", () => "x".repeat(10_000_000), { error: expect.stringContaining("larger than 1 MiB") }],
    ["leaves out a member", () => ({ a: 1, next: undefined }), { a: 1 }],
  ])("that %s: the model is told, and the turn goes on", async (_, execute, expected) => {
    const model = calling(["weather__act", {}]);
    const h = await served(model, [acting(execute)], ["weather:act"]);
    const reply = await (await h.complete("Go")).json();
    expect(reply.choices[0].message.content).toBe("Done.");
    expect(toldIn(model.calls[1])).toEqual([expected]);
  });

  test("that never settles and ignores its signal is cut off", async () => {
    const signals: AbortSignal[] = [];
    const model = calling(["weather__act", {}]);
    const never = acting((_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const h = await served(model, [never], ["weather:act"]);
    const answered = h.complete("Go");
    await eventually(async () => signals.length === 1);
    await h.clock.advance(60_000);
    expect((await (await answered).json()).choices[0].message.content).toBe("Done.");
    expect([signals[0]?.aborted, toldIn(model.calls[1])]).toEqual([
      true,
      [{ error: "The tool did not answer within 60 s" }],
    ]);
  });
});

test("an MCP server that the organization already had answers instead of the family", async () => {
  const called: unknown[] = [];
  const mcp: Mcp = {
    list: async () => [],
    call: async (server, tool, args) => {
      called.push([server.name, tool.name, args]);
      return "the server's rain";
    },
    forget: () => {},
    close: async () => {},
  };
  const model = calling(["weather__order", { city: "Bern" }]);
  const h = await chatHarness(model, {}, { plugins: [weather()], mcp });
  const { headers, slug } = h.agent;
  await storeServer(h, h.organization.id);
  const json = { enabled: ["weather:order"] };
  expect((await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json })).status).toBe(200);
  await (await h.native("Rain!")).text();
  expect(called).toEqual([["weather", "order", { city: "Bern" }]]);
  expect(toldIn(model.calls[1])).toEqual(["the server's rain"]);
});

test("a value that is no file can't be saved, nor after the call was cut off", async () => {
  const late: Promise<unknown>[] = [];
  const bytes = new TextEncoder().encode("sun");
  const family = acting(async ({ text }, { saveFile, signal }) => {
    if (text) return saveFile({ name: "a", mime: "text/plain", bytes: text as never });
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    const saved = saveFile({ name: "a", mime: "text/plain", bytes });
    late.push(saved.catch(({ message }: Error) => message));
    return null;
  });
  const model = calling(["weather__act", { text: "sun" }], ["weather__act", {}]);
  const h = await served(model, [family], ["weather:act"]);
  const answered = h.native("Go", { chat_id: "c" }).then((answer) => answer.text());
  await eventually(async () => {
    await h.clock.advance(60_000);
    return late.length > 0;
  });
  expect(await late[0]).toContain("aborted");
  await answered;
  expect(toldIn(model.calls[1])).toEqual([
    { error: "The plugin gave saveFile no name, mime and bytes: that is a defect of the plugin" },
    { error: "The tool did not answer within 60 s" },
  ]);
  expect(await h.services.database.db.select().from(files)).toEqual([]);
});

test("a tool saves a file of its conversation and links to it", async () => {
  const family = acting(async (_, { saveFile, linkFile, conversationId }) => {
    const bytes = new TextEncoder().encode("sun");
    const saved = await saveFile({ name: "weather.txt", mime: "text/plain", bytes });
    return { saved, linked: await linkFile(saved.id), conversationId } as unknown as JsonObject;
  });
  const model = scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool"
      ? reply("Done.")
      : { parts: [...toolCall("c", "weather__act", {}), finish("tool-calls")] },
  );
  const h = await served(model, [family], ["weather:act"]);
  await (await h.native("Go", { chat_id: "c" })).text();
  const file = { name: "weather.txt", mime: "text/plain", size: 3, url: expect.stringMatching(/^http/) };
  expect(toldIn(model.calls[1])).toMatchObject([{ saved: file, linked: file }]);
  await (await h.native("Go")).text();
  expect(toldIn(model.calls[3])).toEqual([{ error: expect.stringContaining("not stored") }]);
});
