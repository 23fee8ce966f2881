import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readFont } from "../../../src/adapters/node/fonts.ts";
import { hookExecutions, hooks, turns } from "../../../src/db/schema.ts";
import { shippedPlugins } from "../../../src/plugins/index.ts";
import { type Harness, harness } from "../../harness.ts";
import { type Bundle, type Call, caller, shopSkill } from "./full-agent.ts";

const fixture = (version: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/bundles/${version}.json`, import.meta.url), "utf8")) as object;

async function world(options: Parameters<typeof harness>[0] = {}): Promise<{ h: Harness; call: Call }> {
  const h = await harness(options);
  const call = caller(h, await h.as("owner"));
  await shopSkill(h, call);
  return { h, call };
}

async function importFixture(call: Call, version: string) {
  const { slug, warnings } = await call("POST", "/api/instances/import", fixture(version));
  const { instance } = await call<Bundle>("GET", `/api/instances/${slug}/export`);
  const [web] = instance.channels;
  return { slug, instance, web, told: warnings.map(({ type, path }) => `${type} ${path}`) };
}

/** None of these bundles contains the Web channel. */
const webKey = "web_key_missing instance.channels";

test("1.0 has settings and prompts, and is from before the Web switch", async () => {
  const { h, call } = await world();
  const { slug, instance, web, told } = await importFixture(call, "1.0");
  expect(told).toEqual([webKey]);
  expect(instance).toMatchObject({
    slug: "old",
    name: "Old",
    temperature: 0.5,
    maxSteps: 16,
    manualTools: ["readSkill"],
    prompts: [
      { key: "01-identity", content: "You are Old." },
      { key: "02-soul", content: "Be brief." },
    ],
  });
  // As after an upgrade: Web is on, and reports the missing key.
  expect(web?.enabled).toBe(true);
  const json = { model: slug, messages: [{ role: "user", content: "Hello" }] };
  const refused = await h.request("/v1/chat/completions", { method: "POST", json });
  expect([refused.status, (await refused.json()).message]).toEqual([401, "Auth enabled but no API key configured"]);
});

test("1.1 names skills by their slugs; without authentication the agent answers at once", async () => {
  const { h, call } = await world();
  const { slug, instance, told } = await importFixture(call, "1.1");
  expect(told).toEqual(["skill_missing instance.skills.1"]);
  expect(instance.skills).toEqual([{ skillSlug: "shop", enabled: true, autoLoad: false, pinnedVersion: "0.2.0" }]);
  const json = { model: slug, messages: [{ role: "user", content: "Hello" }] };
  expect((await h.request("/v1/chat/completions", { method: "POST", json })).status).toBe(200);
});

test("1.2 names tools as before they were plugins: today's take their place, and ask where their plugin has it so", async () => {
  const { call } = await world({ plugins: shippedPlugins({}, readFont) });
  const { instance, told } = await importFixture(call, "1.2");
  const issues = ["commentOnIssue", "createIssue", "getIssue", "listIssues", "updateIssue"];
  expect(instance.manualTools).toEqual([
    "files:upload",
    ...issues.map((name) => `github:${name}`),
    ...["httpRequest", "hubspot:getContact", "readSkill"],
  ]);
  expect(instance.toolsNeedingApproval).toEqual(
    expect.arrayContaining(["github:commentOnIssue", "github:createIssue", "github:updateIssue"]),
  );
  expect(instance.toolsNeedingApproval).not.toContain("github:listIssues");
  expect(instance.hooks).toMatchObject([
    { actionConfig: { toolName: "currentTime", args: {} }, enabled: true },
    { actionConfig: { toolName: "render:listServices", args: { id: "1" } }, enabled: true },
  ]);
  expect(instance.skills).toMatchObject([{ skillSlug: "shop", autoLoad: true }]);
  expect(told).toEqual([webKey, "secret_missing instance.secrets.0"]);
});

test("tools that the agent can't have are left out, and hooks that call them are off", async () => {
  const { call } = await world();
  const { instance, told } = await importFixture(call, "1.2");
  expect(instance.manualTools).toEqual(["httpRequest", "readSkill"]);
  expect(instance.hooks).toMatchObject([
    { actionConfig: { toolName: "currentTime" }, enabled: true },
    { actionConfig: { toolName: "render:listServices" }, enabled: false },
  ]);
  expect(told.filter((line) => line.startsWith("tool_unusable"))).toEqual([
    ...[1, 2, 3, 4, 5, 7, 8].map((index) => `tool_unusable instance.manualTools.${index}`),
    "tool_unusable instance.hooks.1",
  ]);
});

test("a hook that asks an agent is off, and asks none where an earlier release had it on", async () => {
  const { h, call } = await world();
  const demo = { provider: "demo", model: "demo" };
  await call("POST", "/api/instances", { slug: "other", ...demo });
  const hook = { event: "message_received", actionConfig: { toolName: "agent:other", args: { message: "Hello" } } };
  const open = { authEnabled: false, channels: [{ channelType: "web", enabled: true }] };
  const instance = { slug: "asking", ...demo, ...open, hooks: [hook] };
  const { warnings } = await call("POST", "/api/instances/import", { version: "1.3", type: "instance", instance });
  expect(warnings).toMatchObject([
    { type: "tool_unusable", message: "A hook can't ask an agent: the hook is imported, and off" },
  ]);
  const { db } = h.services.database;
  await db.update(hooks).set({ enabled: true });
  await call("POST", "/v1/chat/completions", {
    model: "asking",
    chat_id: "c",
    messages: [{ role: "user", content: "Hello" }],
  });
  expect(await db.select().from(hookExecutions)).toMatchObject([{ toolName: "agent:other", success: false }]);
  expect(await db.select().from(turns)).toHaveLength(1);
});

test("1.4 and 1.5 are of managed builds: what only these have is left out; 1.5 knows the Web switch", async () => {
  const { call } = await world();
  const older = await importFixture(call, "1.4");
  expect(older.told).toEqual([
    ...["managed_only instance.providerConnectionId", "managed_only instance.embedder"],
    ...["channel_unsupported instance.channels.0", webKey, "channel_credentials_missing instance.channels.1"],
  ]);
  expect(older.web?.enabled).toBe(true);
  expect(older.instance).toMatchObject({
    manualTools: ["currentTime", "httpRequest"],
    toolsNeedingApproval: ["httpRequest"],
    channels: [{ channelType: "web" }, { channelType: "telegram", enabled: false }, { channelType: "agent" }],
  });

  const newer = await importFixture(call, "1.5");
  expect(newer.told).toEqual([
    ...["managed_only instance.providerRoles", "managed_only instance.governance"],
    ...["channel_unsupported instance.channels.1", "web_key_missing instance.channels.0"],
  ]);
  expect(newer.web).toEqual({
    channelType: "web",
    enabled: false,
    config: { contextMapping: { a: "b" }, allowedOrigins: [] },
  });
});

test("channels are named by their index in the request, though others are left out or added", async () => {
  const { h, call } = await world();
  const named = (version: string, channels: object[]) => ({
    version,
    type: "instance",
    instance: { slug: "placed", channels },
  });
  const wrong = [
    { channelType: "rest" },
    ...[{ channelType: "telegram", enabled: "yes" }, { channelType: "voice" }, { channelType: "pigeon" }],
  ];
  for (const version of ["1.4", "1.5"]) {
    const headers = await h.as("owner");
    const refused = await h.request("/api/instances/import", { method: "POST", headers, json: named(version, wrong) });
    const { issues } = (await refused.json()) as { issues: { path: string }[] };
    expect([refused.status, issues.map(({ path }) => path)]).toEqual([
      ...[400, ["instance.channels.1.enabled", "instance.channels.3.channelType"]],
    ]);
  }
  const telegram = { channelType: "telegram", enabled: true, colour: "red" };
  const { warnings } = await call("POST", "/api/instances/import", named("1.4", [{ channelType: "email" }, telegram]));
  expect(warnings.map(({ type, path }) => `${type} ${path}`)).toEqual([
    ...["channel_unsupported instance.channels.0", "unknown_field instance.channels.1.colour"],
    ...[webKey, "channel_credentials_missing instance.channels.1"],
  ]);
});

test("a 1.3 bundle with Web on stays on where the agent has a key, or wants none", async () => {
  const { h, call } = await world();
  const { slug } = await h.agent();
  const channels = [{ channelType: "web", enabled: true }];
  const bundle = (more: object) => ({ version: "1.3", type: "instance", instance: { slug, channels, ...more } });
  expect((await call("POST", `/api/instances/${slug}/import`, bundle({}))).warnings).toEqual([]);
  const open = await call("POST", "/api/instances/import", bundle({ authEnabled: false }));
  expect(open.warnings).toEqual([]);
  for (const name of [slug, open.slug]) {
    const { instance } = await call<Bundle>("GET", `/api/instances/${name}/export`);
    expect(instance.channels[0]?.enabled).toBe(true);
  }
});
