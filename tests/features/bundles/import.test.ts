import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { agents, auditLogs, eventDefinitions, eventSources, hooks, scheduledTasks } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { type Bundle, caller, fullAgent, withoutSecrets } from "./full-agent.ts";

test("an agent that is exported and imported is the same, but for its secrets", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const bundle = await call<Bundle>("GET", `${path}/export`);

  const imported = await call("POST", "/api/instances/import", bundle);
  expect(imported).toMatchObject({ slug: "shop-imported", instanceId: "shop-imported" });
  const copy = await call<Bundle>("GET", "/api/instances/shop-imported/export");
  expect(withoutSecrets(copy)).toEqual(withoutSecrets(bundle));
  expect(imported.warnings.map(({ type, path }) => `${type} ${path}`)).toEqual([
    "secret_missing instance.skillEnv.0.env.0",
    "web_key_missing instance.channels.0",
    "channel_credentials_missing instance.channels.1",
    "secret_missing instance.eventSources.1",
    ...[0, 1, 2].map((index) => `secret_missing instance.secrets.${index}`),
  ]);
  // Sources have addresses of their own.
  const tokens = JSON.stringify([await call("GET", `${path}/event-sources`), copy]).match(/webhookToken":"[^"]+/g);
  const own = JSON.stringify(await call("GET", "/api/instances/shop-imported/event-sources"));
  expect(tokens).toHaveLength(2);
  for (const token of tokens ?? []) expect(own).not.toContain(token);

  // The copy's export can be imported again, and is the same text.
  const second = await call("POST", "/api/instances/import", copy);
  expect(second.slug).toBe("shop-imported-imported");
  const third = await call("POST", "/api/instances/import", bundle);
  expect(third.slug).toBe("shop-imported-2");
  const { exportedAt: _then, ...first } = copy;
  const { exportedAt: _now, ...last } = await call<Bundle>("GET", "/api/instances/shop-imported-2/export");
  expect(JSON.stringify(last).replaceAll("shop-imported-2", "shop-imported")).toBe(JSON.stringify(first));
});

test("an agent that gets its own export keeps everything, its secrets and addresses too", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const { db } = h.services.database;
  const bundle = await call<Bundle>("GET", `${path}/export`);
  const rows = async () => ({
    sources: await db.select().from(eventSources).orderBy(eventSources.id),
    definitions: await db.select().from(eventDefinitions).orderBy(eventDefinitions.id),
    hooks: await db.select().from(hooks).orderBy(hooks.id),
    tasks: await db.select().from(scheduledTasks).orderBy(scheduledTasks.id),
    secrets: await call("GET", `${path}/secrets`),
    room: await call("GET", `${path}/room`),
  });
  const before = await rows();

  const { warnings, slug } = await call("POST", `${path}/import`, bundle);
  expect([warnings, slug]).toEqual([[], "shop"]);
  expect(await rows()).toEqual(before);
  const { exportedAt: _then, ...first } = bundle;
  const { exportedAt: _now, ...again } = await call<Bundle>("GET", `${path}/export`);
  expect(JSON.stringify(again)).toBe(JSON.stringify(first));
  const [entry] = await db.select().from(auditLogs).where(eq(auditLogs.action, "agent.import"));
  expect(entry).toMatchObject({ target: "shop", summary: { version: "1.3", replaced: [], changes: {} } });
});

test("an overwrite replaces what the bundle says, and keeps addresses, runs, tasks of the agent and secrets", async () => {
  const h = await harness();
  const { call, path } = await fullAgent(h);
  const { db } = h.services.database;
  const [sourceBefore] = await db.select().from(eventSources).where(eq(eventSources.name, "orders"));
  const [taskBefore] = await db.select().from(scheduledTasks).where(eq(scheduledTasks.name, "Report"));
  if (!taskBefore || !sourceBefore) throw new Error("The fixture has neither");
  const { id: _own, ...task } = taskBefore;
  const made = {
    ...task,
    id: crypto.randomUUID(),
    name: "Remind Ada",
    source: "agent" as const,
    subject: "web:ada" as const,
  };
  await db.insert(scheduledTasks).values(made);

  const definition = { name: "cancel", matchingPrompt: "Any cancellation", action: "backlog" };
  const cron = { type: "cron", expression: "0 8 * * *", timezone: "Europe/Rome" };
  const instance = {
    slug: "ignored",
    name: "Small",
    model: "demo:demo",
    memoryEnabled: true,
    manualTools: ["httpRequest"],
    eventSources: [{ name: "orders", sourceType: "webhook", authKeyConfigured: true, definitions: [definition] }],
    scheduledTasks: [{ name: "Report", prompt: "Sum up.", schedule: cron }],
  };
  const { warnings } = await call("POST", `${path}/import`, { version: "1.3", type: "instance", instance });
  expect(warnings).toEqual([]);
  const after = await call<Bundle>("GET", `${path}/export`);
  expect(after.instance).toMatchObject({
    slug: "shop",
    name: "Small",
    provider: "demo",
    maxSteps: 16,
    optoutStopKeywords: ["STOP"],
    icon: null,
    prompts: [],
    skills: [],
    hooks: [],
    room: null,
    manualTools: ["httpRequest"],
    // The skill is gone, and httpRequest asks as before since the bundle doesn't mention it.
    toolsNeedingApproval: ["currentTime", "httpRequest"],
    secrets: [{ key: "auth_api_key" }, { key: "openai_api_key" }, { key: "tracing_api_key" }],
    skillEnv: [{ skillSlug: "shop", env: [{ key: "SHOP_TOKEN", configured: true }] }],
    channels: [
      { channelType: "web", enabled: false, config: { contextMapping: {}, allowedOrigins: [] } },
      { channelType: "agent", enabled: true },
    ],
    eventSources: [{ name: "orders", authKeyConfigured: true, definitions: [{ priority: 0, action: "backlog" }] }],
    scheduledTasks: [{ name: "Report", schedule: cron }],
  });

  const [source, ...noOther] = await db.select().from(eventSources);
  expect(noOther).toEqual([]);
  expect(source).toMatchObject({ id: sourceBefore.id, tokenDigest: sourceBefore.tokenDigest, hasAuthKey: true });
  const tasks = await db.select().from(scheduledTasks).orderBy(scheduledTasks.name);
  expect(tasks.map(({ id, name }) => [id, name])).toEqual([
    [made.id, "Remind Ada"],
    [taskBefore.id, "Report"],
  ]);
  // The credentials of the channels are still there: turning one on needs none.
  await call("PUT", `${path}/channels/telegram`, { enabled: true });
  await call("PUT", `${path}/channels/slack`, { enabled: true });
  await call("PUT", `${path}/channels/web`, { enabled: true });

  const [entry] = await db.select().from(auditLogs).where(eq(auditLogs.action, "agent.import"));
  expect(entry?.summary).toMatchObject({
    changes: { name: { from: "Shop", to: "Small" }, maxSteps: { from: 7, to: 16 } },
    replaced: expect.arrayContaining(["prompts", "hooks", "skills", "eventSources", "room"]),
  });
  expect(JSON.stringify(entry)).not.toContain("shop.example");
});

test("an import is in force with the next call, and the audit log names the tools whose approval it took away", async () => {
  const h = await harness();
  const { slug, key, headers } = await h.agent();
  const call = caller(h, headers);
  const { db } = h.services.database;
  const path = `/api/instances/${slug}`;
  await call("PATCH", `${path}/tools`, { enabled: ["currentTime", "httpRequest"], needsApproval: ["httpRequest"] });
  const chat = async () => {
    const json = { model: slug, messages: [{ role: "user", content: "Hello" }] };
    const own = { Authorization: `Bearer ${key}` };
    return (await h.request("/v1/chat/completions", { method: "POST", headers: own, json })).status;
  };
  const bundle = await call<Bundle>("GET", `${path}/export`);
  expect(await chat()).toBe(200);
  const instance = { ...bundle.instance, channels: [], toolsNeedingApproval: [] };
  await call("POST", `${path}/import`, { ...bundle, instance });
  expect(await chat()).toBe(404);
  await call("POST", `${path}/import`, bundle);
  expect(await chat()).toBe(200);
  const entries = await db.select().from(auditLogs).where(eq(auditLogs.action, "agent.import")).orderBy(auditLogs.id);
  expect(entries.map(({ summary }) => summary)).toMatchObject([
    { approvalRemoved: ["httpRequest"], replaced: ["toolsNeedingApproval", "channels"] },
    { approvalRemoved: [], replaced: ["toolsNeedingApproval", "channels"] },
  ]);
});

test("imports of one slug at the same time all get one", async () => {
  const h = await harness();
  const headers = await h.as("owner");
  const json = { version: "1.3", type: "instance", instance: { slug: "race", hooks: [] } };
  const made = Array.from({ length: 6 }, () =>
    h
      .request("/api/instances/import", { method: "POST", headers, json })
      .then(async (answer) => [answer.status, ((await answer.json()) as { slug: string }).slug] as const),
  );
  const slugs = ["race", "race-imported", ...[2, 3, 4, 5].map((number) => `race-imported-${number}`)];
  expect((await Promise.all(made)).toSorted()).toEqual(slugs.map((slug) => [201, slug]));
});

test("a new agent is made in the named workspace, or in the first one", async () => {
  const h = await harness();
  const call = caller(h, await h.as("owner"));
  const { db } = h.services.database;
  const workspaces = `/api/organizations/${h.organization.slug}/workspaces`;
  const { id } = (await call("POST", workspaces, { name: "Second" })).workspace;
  const bundle = { version: "1.3", type: "instance", instance: { slug: "a" } };
  await call("POST", `/api/instances/import?workspaceId=${id}`, bundle);
  await call("POST", "/api/instances/import", bundle);
  const rows = await db
    .select({ slug: agents.slug, workspaceId: agents.workspaceId })
    .from(agents)
    .orderBy(agents.slug);
  expect(rows).toEqual([
    { slug: "a", workspaceId: id },
    { slug: "a-imported", workspaceId: h.organization.workspaceId },
  ]);
  const other = await h.createOrganization("other");
  const headers = await h.as("owner");
  const foreign = await h.request(`/api/instances/import?workspaceId=${other.workspaceId}`, {
    method: "POST",
    headers,
    json: bundle,
  });
  expect(foreign.status).toBe(404);
  expect(await db.$count(agents)).toBe(2);
});
