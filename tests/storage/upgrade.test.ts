import { eq } from "drizzle-orm";
import { bcrypt } from "hash-wasm";
import { expect, test } from "vitest";
import { createMessengers } from "../../src/adapters/messengers/index.ts";
import { readFont } from "../../src/adapters/node/fonts.ts";
import { createCipher } from "../../src/core/credentials/cipher.ts";
import { newToken } from "../../src/core/credentials/tokens.ts";
import { newId, toHex } from "../../src/core/ids.ts";
import type { RunText } from "../../src/db/migrate.ts";
import { agentTools, budgetPeriods, usageDaily } from "../../src/db/schema.ts";
import { createEngine } from "../../src/engine.ts";
import { successorsOf } from "../../src/features/tools/index.ts";
import { shippedPlugins } from "../../src/plugins/index.ts";
import { forTest } from "../adapters/messengers/accounts.ts";
import { TestClock } from "../clock.ts";
import { harness } from "../harness.ts";
import { telegramServer, telegramToken } from "../messengers/telegram-server.ts";
import { upgradedDatabase } from "./older.ts";

// An installation as it was left by a release from before 1.2.0, which this release starts on.

const oldKey = new Uint8Array(32).fill(7);
const address = "https://agents.example.com";
const agentKey = "an-agent-key-of-old-times";
const home = { id: newId(), slug: "old", workspaceId: newId() };

const names = {
  agent: newId(),
  open: newId(),
  off: newId(),
  newer: newId(),
  skill: newId(),
  version: newId(),
  every: newId(),
  everyVersion: newId(),
};

/** Names of tools that every release before 1.2.0 had, and one of those that HubSpot had. */
const prePlugin = ["ghIssue", "ghPR", "gitCloneRepo", "renderService", "markdownToPdf", "fileUpload", "hubspotGetDeal"];

const quoted = (values: readonly (string | boolean | number)[]) =>
  values.map((value) => (typeof value === "string" ? `'${value}'` : String(value))).join(", ");
const array = (values: readonly string[]) => `array[${quoted(values)}]::text[]`;

async function sealed(plaintext: string, place: string): Promise<string> {
  const { keyId, ciphertext } = await (await createCipher([oldKey])).seal(plaintext, place);
  return `'${keyId}', '\\x${toHex(ciphertext)}'::bytea`;
}

/** The row of a bot, whose webhook secret was that of all bots, and which several agents could have. */
async function botOf(agentId: string): Promise<string> {
  const config = JSON.stringify({ botToken: telegramToken, allowedUserIds: "4711" });
  const row = quoted([newId(), agentId, "telegram", true, "2026-03-01T08:00:00Z", address]);
  return `${row}, ${await sealed(config, `${agentId}:channel:telegram`)}`;
}

async function leaveRows(run: RunText, managementKey: string) {
  const insert = (table: string, columns: string, ...rows: string[]) =>
    run(`insert into ${table} (${columns}) values ${rows.map((row) => `(${row})`).join(", ")}`);
  const { agent, open: unlocked, off, newer, skill, version, every, everyVersion } = names;
  const [mark] = await (await createCipher([oldKey])).fingerprints(agentKey);

  await insert("installation", "id, policies", `1, '{"publicAddress": "${address}"}'`);
  await insert("organizations", "id, slug, name", quoted([home.id, home.slug, "Old"]));
  await insert("workspaces", "id, organization_id, name", quoted([home.workspaceId, home.id, "default"]));
  const legacy = await bcrypt({
    password: managementKey,
    salt: crypto.getRandomValues(new Uint8Array(16)),
    costFactor: 4,
    outputType: "encoded",
  });
  await insert(
    "access_tokens",
    "id, kind, organization_id, name, prefix, legacy_hash",
    quoted([newId(), "management", home.id, "ci", managementKey.slice(0, 10), legacy]),
  );

  const agentRow = (id: string, slug: string, authEnabled: boolean, attachments: boolean, createdAt: string) =>
    quoted([id, home.id, home.workspaceId, slug, slug, "demo", "demo", authEnabled, attachments, createdAt]);
  await insert(
    "agents",
    "id, organization_id, workspace_id, slug, name, provider, model, auth_enabled, attachments_enabled, created_at",
    agentRow(agent, "helper", true, true, "2026-03-01T08:00:00Z"),
    agentRow(unlocked, "open", false, false, "2026-10-11T23:59:59.999Z"),
    agentRow(off, "off", true, true, "2026-05-01T08:00:00Z"),
    agentRow(newer, "newer", true, true, "2026-10-12T00:00:00Z"),
  );
  await run(`update agents set auth_key_hmac = '\\x${toHex(mark ?? new Uint8Array())}' where id = '${agent}'`);
  await insert(
    "secrets",
    "id, agent_id, key, key_id, ciphertext",
    [quoted([newId(), agent, "auth_api_key"]), await sealed(agentKey, `${agent}:auth_api_key`)].join(", "),
  );
  await insert(
    "channels",
    "id, agent_id, type, enabled, created_at, registered_address, key_id, config",
    `${quoted([newId(), off, "web", false, "2026-05-01T08:00:00Z"])}, null, ${await sealed("{}", `${off}:channel:web`)}`,
    ...(await Promise.all([agent, off].map(botOf))),
  );

  await insert(
    "agent_tools",
    "agent_id, name, source, needs_approval",
    ...[
      [agent, "ghIssue", "manual", true],
      [agent, "github:getIssue", "manual", false],
      [agent, "gitCloneRepo", "skill", false],
      [agent, "fileUpload", "manual", false],
      [agent, "fileUpload", "skill", true],
      [agent, "hubspotSearchContacts", "manual", true],
      [agent, "hubspotX", "global", true],
      [agent, "hubspotlowercase", "manual", false],
      [agent, "readSkill", "manual", false],
    ].map(quoted),
  );
  await insert("budget_periods", "agent_id, month, used, reserved", quoted([agent, "2026-10-01", 700, 50]));
  await insert(
    "usage_daily",
    "agent_id, day, channel, model, turns, messages, prompt_tokens, completion_tokens",
    quoted([agent, "2026-10-01", "web", "demo:demo", 3, 6, 400, 300]),
  );
  const hook = (toolName: string, args: object, position: number) =>
    quoted([newId(), agent, "message_received", JSON.stringify({ toolName, args }), position]);
  await insert(
    "hooks",
    "id, agent_id, event, action_config, position",
    hook("fileUpload", { name: "{{user.name}}.txt" }, 0),
    hook("ghIssue", { owner: "acme" }, 1),
    hook("hubspotCreateNote", {}, 2),
    hook("httpRequest", { url: "https://example.com" }, 3),
  );
  await insert(
    "skills",
    "id, organization_id, slug, name, current_version_id",
    quoted([skill, home.id, "triage", "Triage", version]),
    quoted([every, home.id, "every", "Every", everyVersion]),
  );
  await insert(
    "skill_versions",
    "id, skill_id, version, description, content, required_tools",
    `${quoted([version, skill, "0.1.0", "d", "c"])}, ${array(["ghPR", "readSkill", "ghIssue", "github:getIssue"])}`,
    `${quoted([everyVersion, every, "0.1.0", "d", "c"])}, ${array(prePlugin)}`,
    `${quoted([newId(), every, "0.0.1", "d", "c"])}, ${array([])}`,
  );
}

/** This release on the older database, after its boot. */
async function upgraded() {
  const managementKey = (await newToken("management")).token;
  const database = await upgradedDatabase(25, (run) => leaveRows(run, managementKey));
  const telegram = await forTest(telegramServer());
  const messengers = createMessengers({ clock: new TestClock(), bases: { telegram: telegram.base } });
  const h = await harness({ database, keys: [oldKey], messengers, plugins: shippedPlugins({}, readFont) });
  await h.engine.boot({});
  const headers = await h.as("owner", { organization: home });
  const get = async (path: string) => (await h.request(path, { headers })).json();
  return { ...h, headers, get, telegram, managementKey };
}

type Upgraded = Awaited<ReturnType<typeof upgraded>>;

test("an installation from before 1.2.0 goes on as the release notes say", async () => {
  const h = await upgraded();
  await expectWebOn(h);
  await expectToolsRenamed(h);
  await expectBotRegistered(h);
  await expectManagementKey(h);
  await expectKeyRotates(h);
  await expectCostsUnknown(h);
});

async function channelOf({ get }: Upgraded, slug: string, type: string) {
  const { channels } = await get(`/api/instances/${slug}/channels`);
  return channels.find(({ channelType }: { channelType: string }) => channelType === type);
}

/** Agents of old answer on the web, with the key that they had, and take no attachments. Others stay as they are. */
async function expectWebOn(h: Upgraded) {
  const of = async (slug: string) => {
    const { instance } = await h.get(`/api/instances/${slug}`);
    return [instance.webEnabled, instance.authEnabled, instance.attachmentsEnabled, instance.revision];
  };
  expect(await of("helper")).toEqual([true, true, false, 3]);
  expect(await of("open")).toEqual([true, false, false, 2]);
  expect(await of("off")).toEqual([false, true, false, 2]);
  expect(await of("newer")).toEqual([false, true, true, 1]);

  const chat = async (model: string, headers: Record<string, string> = {}) => {
    const json = { model, messages: [{ role: "user", content: "Hi" }] };
    return (await h.request("/v1/chat/completions", { method: "POST", headers, json })).status;
  };
  const withKey = { Authorization: `Bearer ${agentKey}` };
  expect(await chat("helper", withKey)).toBe(200);
  expect(await chat("helper")).toBe(401);
  expect(await chat("open")).toBe(200);
  expect([await chat("off"), await chat("newer")]).toEqual([404, 404]);

  const path = "/api/instances/open/channels/web";
  expect(await channelOf(h, "open", "web")).toMatchObject({
    enabled: true,
    config: { apiKeyConfigured: false, requireAuthentication: false, contextMapping: {}, allowedOrigins: [] },
  });
  const changes = { config: { allowedOrigins: ["https://shop.example.com"] } };
  const saved = await h.request(path, { method: "PUT", headers: h.headers, json: changes });
  expect((await saved.json()).channel).toMatchObject({ enabled: true, ...changes });
}

interface Listed {
  name: string;
  enabled: boolean;
  needsApproval: boolean;
}

/** In place: with their approval, once each, in the order of their list. */
async function expectToolsRenamed(h: Upgraded) {
  const rows = await h.services.database.db.select().from(agentTools);
  expect(rows.map(({ name, source, needsApproval }) => `${name} ${source} ${needsApproval}`).sort()).toEqual(
    [
      ...["listIssues", "getIssue", "createIssue", "updateIssue", "commentOnIssue"].map(
        (name) => `github:${name} manual true`,
      ),
      ...["listFiles", "getFile"].map((name) => `github:${name} skill false`),
      ...["files:upload manual false", "files:upload skill true"],
      ...["hubspot:searchContacts manual true", "hubspot:x global true"],
      ...["hubspotlowercase manual false", "readSkill manual false"],
    ].sort(),
  );

  const { tools } = await h.get("/api/instances/helper/tools");
  const asking = (tools as Listed[]).filter(({ enabled, needsApproval }) => enabled && needsApproval);
  expect(asking.map(({ name }) => name).sort()).toEqual([
    "files:upload",
    ...["commentOnIssue", "createIssue", "getIssue", "listIssues", "updateIssue"].map((name) => `github:${name}`),
    "hubspot:searchContacts",
  ]);

  const { hooks } = await h.get("/api/instances/helper/hooks");
  expect(hooks.map(({ actionConfig }: { actionConfig: unknown }) => actionConfig)).toEqual([
    { toolName: "files:upload", args: { name: "{{user.name}}.txt" } },
    { toolName: "github:listIssues", args: { owner: "acme" } },
    { toolName: "hubspot:createNote", args: {} },
    { toolName: "httpRequest", args: { url: "https://example.com" } },
  ]);

  const skill = async (name: string) => (await h.get(`/api/organizations/old/skills/${name}`)).requiredTools;
  expect(await skill("triage")).toEqual([
    ...["github:listPullRequests", "github:getPullRequest", "github:createPullRequest", "readSkill"],
    ...["github:listIssues", "github:getIssue", "github:createIssue", "github:updateIssue", "github:commentOnIssue"],
  ]);
  // The migration has a list of its own, which never changes.
  expect(await skill("every")).toEqual(prePlugin.flatMap((name) => successorsOf(name)));
}

/** The bot gets a webhook secret of its own, and Telegram is told at the start. */
async function expectBotRegistered(h: Upgraded) {
  const { clock, telegram, logs } = h;
  expect(telegram.webhook()).toBeNull();
  await clock.advance(2_000);
  const webhook = { url: `${address}/webhooks/telegram/helper`, secret: expect.stringMatching(/^[\w-]{32}$/) };
  await expect.poll(() => telegram.webhook()).toEqual(webhook);
  const running = { status: "running", config: { allowedUserIds: "4711" } };
  await expect.poll(() => channelOf(h, "helper", "telegram")).toMatchObject(running);
  const failing = { status: "failing", lastError: expect.stringContaining("Another agent uses this bot") };
  expect(await channelOf(h, "off", "telegram")).toMatchObject(failing);
  expect(logs.join()).not.toContain(telegram.webhook()?.secret);
}

/** A management key in the older form works, and is rewritten at its first use. */
async function expectManagementKey({ request, managementKey, logs }: Upgraded) {
  const used = async () =>
    (await request("/api/instances", { headers: { Authorization: `Bearer ${managementKey}` } })).status;
  expect([await used(), await used()]).toEqual([200, 200]);
  expect(logs.filter((line) => line.includes("A management key in the older form was rewritten"))).toHaveLength(1);
}

/** A channel that the migration made has nothing sealed, and is no obstacle to another key. */
async function expectKeyRotates({ services }: Upgraded) {
  const fresh = new Uint8Array(32).fill(8);
  const rotating = createEngine({ ...services, cipher: await createCipher([fresh, oldKey]) });
  // The key check, the agent's key, both bots, and the web channels of `off` and `open`, which were saved.
  expect(await rotating.rotateKey()).toEqual({ resealed: 6, total: 6 });
  const { app } = createEngine({ ...services, cipher: await createCipher([fresh]) });
  const body = JSON.stringify({ model: "helper", messages: [{ role: "user", content: "Hi" }] });
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${agentKey}` };
  expect((await app.request("/v1/chat/completions", { method: "POST", headers, body })).status).toBe(200);
}

/** Turns of old count as turns of unknown cost, and their tokens as before. */
async function expectCostsUnknown({ services }: Upgraded) {
  const { db } = services.database;
  expect(await db.select().from(budgetPeriods).where(eq(budgetPeriods.month, "2026-10-01"))).toEqual([
    { agentId: names.agent, month: "2026-10-01", used: 700, reserved: 50, costUsed: 0, costReserved: 0 },
  ]);
  expect(await db.select().from(usageDaily).where(eq(usageDaily.day, "2026-10-01"))).toEqual([
    expect.objectContaining({ agentId: names.agent, turns: 3, promptTokens: 400, costMicros: 0, priced: 0 }),
  ]);
}
