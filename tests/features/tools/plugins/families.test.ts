import { describe, expect, test } from "vitest";
import { editionOf } from "../../../../src/core/edition.ts";
import { plugins } from "../../../../src/db/schema.ts";
import { harness } from "../../../harness.ts";
import { storeServer, weather } from "./weather.ts";

type Fields = Record<string, unknown>;

async function withAgent(families = [weather()], options: Parameters<typeof harness>[0] = {}) {
  const h = await harness({ plugins: families, ...options });
  const { slug, headers } = await h.agent();
  const send = async (method: string, path: string, json?: unknown, as = headers) => {
    const answer = await h.request(path, { method, headers: as, ...(json === undefined ? {} : { json }) });
    return { status: answer.status, body: (await answer.json()) as Fields & { message: string } };
  };
  const own = `/api/instances/${slug}`;
  const save = (json: object) => send("PATCH", `${own}/tools`, json);
  const tools = async (path = `${own}/tools`) => (await send("GET", path)).body.tools as Fields[];
  const named = async (prefix: string, path?: string) =>
    (await tools(path)).filter(({ name }) => String(name).startsWith(prefix));
  const asking = async () => (await tools()).flatMap(({ name, needsApproval }) => (needsApproval ? [name] : []));
  const secrets = async () => (await send("GET", `${own}/secrets`)).body.secrets as Fields[];
  return { ...h, slug, own, headers, send, save, tools, named, asking, secrets };
}

describe("the tools of a family", () => {
  test("are in the catalogue of every organization, with the secrets that they need", async () => {
    const h = await withAgent();
    const other = await h.as("viewer", { organization: await h.createOrganization("other") });
    const shown = {
      name: "weather:forecast",
      description: "Tells the weather of a city.",
      category: "Weather",
      origin: "plugin",
      requiredSecrets: [
        { key: "weather_key", type: "text", label: "Key", sensitive: true },
        { key: "weather_units", type: "select", choices: ["metric", "us"], optional: true, sensitive: false },
      ],
    };
    expect((await h.named("weather:", "/api/tools"))[0]).toEqual(shown);
    const { body } = await h.send("GET", "/api/tools", undefined, other);
    expect(body.tools).toContainEqual(shown);
    expect(await h.named("weather:")).toEqual([
      { ...shown, enabled: false, source: null, needsApproval: false, missingSecrets: ["weather_key"] },
      expect.objectContaining({ name: "weather:order", enabled: false }),
    ]);
  });

  test("ask for approval as the plugin says when they are turned on, unless a person decided otherwise", async () => {
    const h = await withAgent();
    expect((await h.save({ enabled: ["weather:forecast", "weather:order"] })).status).toBe(200);
    expect(await h.asking()).toEqual(["weather:order"]);
    await h.save({ enabled: ["readSkill"] });
    await h.save({ enabled: ["weather:order"], needsApproval: [] });
    expect(await h.asking()).toEqual([]);
    const audit = await h.send("GET", "/api/audit-logs?action=agent.tool.update&limit=1");
    expect(audit.body.items).toMatchObject([{ details: { approvalRemoved: ["weather:order"] } }]);
    // A person's choice stays while the tool is on; a tool turned on again has the default.
    await h.save({ enabled: ["weather:order", "weather:forecast"] });
    expect(await h.asking()).toEqual([]);
    await h.save({ enabled: ["readSkill"] });
    await h.save({ enabled: ["weather:order"] });
    expect(await h.asking()).toEqual(["weather:order"]);
  });

  test("that a skill turns on ask for approval as well, and keep an earlier choice", async () => {
    const h = await withAgent();
    const skill = {
      name: "Rain",
      description: "d",
      content: "c",
      requiredTools: ["weather:order", "weather:forecast"],
    };
    expect((await h.send("POST", "/api/organizations/acme/skills", skill)).status).toBe(201);
    await h.send("PUT", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/skills/rain`);
    const enable = (enabled: string[]) => h.send("PATCH", `${h.own}/skills`, { enabled });
    await enable(["rain"]);
    expect(await h.asking()).toEqual(["weather:order"]);
    await enable([]);
    expect(await h.named("weather:order")).toMatchObject([{ enabled: false }]);
    await h.save({ enabled: ["weather:order"], needsApproval: [] });
    await enable(["rain"]);
    expect(await h.asking()).toEqual([]);
    expect((await h.named("weather:order"))[0]).toMatchObject({ source: "skill", enabled: true });
  });

  test("that no plugin has are refused, in skills and hooks too", async () => {
    const h = await withAgent();
    expect(await h.save({ enabled: ["weather:nothing"] })).toMatchObject({
      status: 400,
      body: { message: "Unknown tools: weather:nothing" },
    });
    const action = (toolName: string) => ({ actionType: "tool", actionConfig: { toolName, args: { city: "Bern" } } });
    const hook = (name: string) => h.send("POST", `${h.own}/hooks`, { event: "message_received", ...action(name) });
    expect([(await hook("weather:nothing")).status, (await hook("weather:forecast")).status]).toEqual([400, 201]);
    const skill = { name: "Rain", description: "d", content: "c", requiredTools: ["weather:nothing"] };
    expect((await h.send("POST", "/api/organizations/acme/skills", skill)).status).toBe(400);
  });

  test("are listed by required-secrets while they are on", async () => {
    const h = await withAgent();
    await h.save({ enabled: ["weather:forecast", "weather:order"] });
    await h.send("PUT", `${h.own}/secrets`, { secrets: [{ key: "weather_units", value: "us" }] });
    const { body } = await h.send("GET", `${h.own}/tools/required-secrets`);
    const both = ["weather:forecast", "weather:order"];
    expect(body.requiredSecrets).toMatchObject([
      { key: "weather_key", configured: false, tools: both },
      { key: "weather_units", configured: true, tools: both, choices: ["metric", "us"] },
    ]);
  });

  test("say on and off which secrets the agent lacks, but for optional ones", async () => {
    const h = await withAgent();
    const missing = async () => {
      const { body } = await h.send("GET", `${h.own}/tools`);
      const tools = body.tools as { name: string; missingSecrets: string[] }[];
      return tools.flatMap(({ name, missingSecrets }) => (missingSecrets.length > 0 ? [[name, missingSecrets]] : []));
    };
    await h.save({ enabled: ["weather:forecast"] });
    expect(await missing()).toEqual([
      ["weather:forecast", ["weather_key"]],
      ["weather:order", ["weather_key"]],
    ]);
    await h.send("PUT", `${h.own}/secrets`, { secrets: [{ key: "weather_key", value: "k-0123456789" }] });
    expect(await missing()).toEqual([]);
  });
});

describe("an MCP server under the namespace of a family", () => {
  test("that was there before keeps it, on or off, for its organization alone", async () => {
    const h = await withAgent();
    const other = await h.createOrganization("other");
    const elsewhere = await h.as("viewer", { organization: other });
    await storeServer(h, h.organization.id);
    const server = [{ name: "weather:order", description: "The server's.", origin: "mcp" }];
    expect(await h.named("weather:")).toMatchObject(server);
    const { body } = await h.send("GET", "/api/tools", undefined, elsewhere);
    expect((body.tools as Fields[]).filter(({ origin }) => origin === "plugin")).toHaveLength(2);
    // The default of the family's tool doesn't apply to the server's tool of the same name.
    await h.save({ enabled: ["weather:order"] });
    expect(await h.asking()).toEqual([]);
    expect((await h.save({ enabled: ["weather:forecast"] })).status).toBe(400);

    await h.engine.boot({});
    const warning = h.logs.map((line) => JSON.parse(line)).find(({ message }) => message.includes("kept from"));
    expect(warning).toMatchObject({ level: "warn", namespace: "weather", organizations: 1 });

    await h.services.database.db.update(plugins).set({ enabled: false });
    expect(await h.named("weather:")).toEqual([]);
    const path = "/api/organizations/acme/plugins/weather";
    expect((await h.send("DELETE", path)).status).toBe(200);
    expect(await h.named("weather:")).toMatchObject([{ origin: "plugin" }, { origin: "plugin", enabled: true }]);
  });

  test("can be changed, and not be added", async () => {
    const h = await withAgent();
    const path = "/api/organizations/acme/plugins/weather";
    const settings = { kind: "mcp", transport: { type: "http", url: "https://mcp.example.com/mcp" } };
    expect(await h.send("PUT", path, settings)).toMatchObject({
      status: 400,
      body: {
        message: "namespace: weather is that of the installed plugin Weather; choose another one, such as my-weather",
      },
    });
    await storeServer(h, h.organization.id);
    expect((await h.send("PUT", path, { ...settings, enabled: false })).status).toBe(200);
  });

  test("gives a skill's tools no default of the family's", async () => {
    const h = await withAgent();
    await storeServer(h, h.organization.id, { status: "connected" });
    const skill = { name: "Rain", description: "d", content: "c", requiredTools: ["weather:order"] };
    await h.send("POST", "/api/organizations/acme/skills", skill);
    await h.send("PUT", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/skills/rain`);
    await h.send("PATCH", `${h.own}/skills`, { enabled: ["rain"] });
    expect(await h.named("weather:")).toMatchObject([{ enabled: true, source: "skill", needsApproval: false }]);
  });
});

describe("a package that an organization turns off", () => {
  const path = "/api/organizations/acme/plugin-packages";
  const edition = editionOf({ EDITION: "managed", FEATURES: ["administration"] });

  test("is unusable for its agents alone, and they have it back with their settings", async () => {
    const h = await withAgent([weather(), weather(undefined, { namespace: "climate", title: "Climate" })], { edition });
    const other = await h.as("owner", { organization: await h.createOrganization("other") });
    const skill = { name: "Rain", description: "d", content: "c", requiredTools: ["weather:order"] };
    await h.send("POST", "/api/organizations/acme/skills", skill);
    await h.send("PUT", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/skills/rain`);
    await h.save({ enabled: ["weather:forecast"] });
    expect((await h.send("GET", path)).body).toEqual({
      packages: [
        { namespace: "climate", enabled: true },
        { namespace: "weather", enabled: true },
      ],
    });

    expect(await h.send("PUT", `${path}/weather`, { enabled: false })).toMatchObject({
      status: 200,
      body: { package: { namespace: "weather", enabled: false } },
    });
    expect(await h.named("weather:")).toEqual([]);
    expect(await h.named("weather:", "/api/tools")).toEqual([]);
    expect(await h.named("climate:")).toHaveLength(2);
    expect((await h.save({ enabled: ["weather:order"] })).status).toBe(400);
    const { body } = await h.send("GET", "/api/tools", undefined, other);
    expect((body.tools as Fields[]).filter(({ name }) => String(name).startsWith("weather:"))).toHaveLength(2);
    expect((await h.send("GET", `${h.own}/skills`)).body.skills).toMatchObject([{ missingTools: ["weather:order"] }]);

    // The same again is no change.
    await h.send("PUT", `${path}/weather`, { enabled: false });
    expect(await h.send("PUT", `${path}/weather`, {})).toMatchObject({ body: { package: { enabled: true } } });
    expect(await h.named("weather:forecast")).toMatchObject([{ enabled: true }]);
    const audit = await h.send("GET", "/api/audit-logs?action=plugin-package.update");
    expect(audit.body.items).toMatchObject([
      { target: "weather", details: { enabled: true } },
      { target: "weather", details: { enabled: false } },
    ]);
  });

  test("is none that the server lacks", async () => {
    const h = await withAgent([weather()], { edition });
    for (const namespace of ["nothing", "%2e%2e%2fweather", "Weather", "weather%00", "__proto__"]) {
      const { status, body } = await h.send("PUT", `${path}/${namespace}`, { enabled: false });
      expect([namespace, status, body.message]).toEqual([namespace, 404, "Plugin package not found"]);
    }
    expect((await h.send("PUT", `${path}/weather`, { enabled: "no" })).status).toBe(400);
  });
});

describe("the secrets of families", () => {
  test("are among the well-known keys, each once", async () => {
    const second = weather(undefined, { namespace: "climate", title: "Climate" });
    const h = await withAgent([weather(), second]);
    const keys = (await h.secrets()).map(({ key }) => key);
    expect(keys.filter((key) => String(key).startsWith("weather_"))).toEqual(["weather_key", "weather_units"]);
  });

  test("have the values that the plugin allows", async () => {
    const h = await withAgent();
    const put = (key: string, value: string) => h.send("PUT", `${h.own}/secrets`, { secrets: [{ key, value }] });
    const { body, status } = await put("weather_units", "old");
    const message = "weather_units must be one of: metric, us";
    expect([status, body.message, body.issues]).toEqual([
      400,
      `secrets.0.value: ${message}`,
      [{ path: "secrets.0.value", message }],
    ]);
    expect((await put("weather_units", "us")).status).toBe(200);
    expect((await put("weather_key", "short")).body.message).toMatch(
      /^secrets\.0\.value: weather_key must have at least 6/,
    );
    expect((await put("weather_key", "long enough")).status).toBe(200);
  });

  test("of the engine itself stay sensitive, whatever a plugin says", async () => {
    const sly = weather(undefined, { secrets: [{ key: "openai_api_key", type: "text", sensitive: false }] });
    const h = await withAgent([sly]);
    const json = { secrets: [{ key: "openai_api_key", value: "short" }] };
    expect((await h.send("PUT", `${h.own}/secrets`, json)).status).toBe(400);
  });
});
