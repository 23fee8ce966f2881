import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { fromBase64 } from "../../../src/core/ids.ts";
import { agents, auditLogs, channels, jobs } from "../../../src/db/schema.ts";
import { openMessenger } from "../../../src/features/channels/index.ts";
import { claimAccount } from "../../../src/features/channels/messengers/claim.ts";
import { inspectSecrets, rotateSecrets } from "../../../src/features/secrets/index.ts";
import { slackTokens } from "../../messengers/slack-server.ts";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { twilioAccount } from "../../messengers/twilio-server.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { type Fields, put, shown, withMessengers } from "./messengers.ts";

const address = "https://agents.example.com";
const bot = { botToken: telegramToken };
const { authToken, apiKeySid, apiKeySecret, ...account } = twilioAccount;
const byToken = { ...account, authToken };
const byKey = { ...account, apiKeySid, apiKeySecret };
const { appToken, ...byWebhook } = slackTokens;
const secretsOf = [...Object.values(slackTokens), telegramToken, authToken, apiKeySecret, apiKeySid];

describe("the settings of a messenger's channel", () => {
  it("are all listed, off and empty to begin with, but for other agents", async () => {
    const { h, headers } = await withMessengers({ address });
    const answer = await h.request("/api/instances/one/channels", { headers });
    const off = { enabled: false, status: "off", lastError: null, lastReceivedAt: null, lastSentAt: null };
    const webhook = (path: string) => ({ transport: "webhook", webhookUrl: `${address}/webhooks/${path}` });
    expect(await answer.json()).toMatchObject({
      channels: [
        { channelType: "web", ...off },
        { channelType: "telegram", ...off, config: webhook("telegram/one") },
        { channelType: "slack", ...off, config: webhook("slack/one") },
        { channelType: "whatsapp", ...off, config: webhook("twilio/one/whatsapp") },
        { ...off, channelType: "agent", enabled: true, status: "running", config: {} },
      ],
    });
  });

  it("round-trip as they are shown, and merge field by field", async () => {
    const { h, headers } = await withMessengers({ address });
    for (const [type, config] of [
      ["telegram", { ...bot, allowedUserIds: " 7, 8 " }],
      ["slack", { ...slackTokens, transport: "socket" }],
      ["whatsapp", byToken],
    ] as const) {
      const first = await put(h, headers, type, { config });
      expect(first.status).toBe(200);
      const [before] = await h.services.database.db.select().from(channels).where(eq(channels.type, type));
      const again = await put(h, headers, type, { enabled: false, config: first.channel.config });
      expect(again).toMatchObject({ status: 200, channel: first.channel });
      const [after] = await h.services.database.db.select().from(channels).where(eq(channels.type, type));
      const opened = async (row: typeof before) =>
        JSON.parse(
          await h.services.cipher.open(
            { keyId: row?.keyId ?? "", ciphertext: row?.config ?? new Uint8Array() },
            `${row?.agentId}:channel:${type}`,
          ),
        );
      const { transport, ...stored } = await opened(after);
      expect(stored).toMatchObject(await opened(before).then(({ transport, ...rest }) => rest));
    }
    expect((await shown(h, headers, "telegram")).config).toMatchObject({ allowedUserIds: "7,8" });
    await put(h, headers, "telegram", { config: { allowedUserIds: "" } });
    expect((await shown(h, headers, "telegram")).config).not.toHaveProperty("allowedUserIds");
    expect((await shown(h, headers, "telegram")).config).toMatchObject({ botToken: "••••9abc" });
    const without = await put(h, headers, "slack", { config: { appToken: null } });
    expect(without.channel.config).toEqual({
      botToken: "••••oken",
      signingSecret: "••••85a5",
      transport: "socket",
    });
  });

  it("of the other mode of WhatsApp are discarded, with the secret of the webhook", async () => {
    const { h, headers } = await withMessengers({ address });
    const first = await put(h, headers, "whatsapp", { enabled: true, config: byKey });
    expect(first.channel.config).toMatchObject({ mode: "api_key", apiKeySecret: "••••abcd" });
    const secretUrl = first.channel.config.webhookUrl ?? "";
    expect(secretUrl).toMatch(/^https:\/\/agents\.example\.com\/webhooks\/twilio\/one\/whatsapp\/[\w-]{32}$/);
    const kept = await put(h, headers, "whatsapp", { config: { whatsappNumber: "+390612345678" } });
    expect(kept.channel.config.webhookUrl).toBe(secretUrl);

    const other = await put(h, headers, "whatsapp", { config: { authToken } });
    expect(other.channel.config).toEqual({
      mode: "auth_token",
      accountSid: "••••cdef",
      authToken: "••••cdef",
      whatsappNumber: "+390612345678",
      transport: "webhook",
      webhookUrl: `${address}/webhooks/twilio/one/whatsapp`,
    });
    const incomplete = await put(h, headers, "whatsapp", { config: { mode: "api_key" } });
    expect(incomplete).toMatchObject({ status: 400, message: expect.stringContaining("config.apiKeySid: is needed") });
    const back = await put(h, headers, "whatsapp", { config: byKey });
    expect(back.channel.config.webhookUrl).not.toBe(secretUrl);
    const both = await put(h, headers, "whatsapp", { config: { ...byKey, authToken } });
    expect(both).toMatchObject({
      status: 400,
      message: "config.mode: send either authToken, or apiKeySid and apiKeySecret",
    });
  });

  it("show no address with a secret to callers who may only read", async () => {
    const { h, headers } = await withMessengers({ address });
    await put(h, headers, "whatsapp", { enabled: true, config: byKey });
    const viewer = await h.as("viewer");
    expect((await shown(h, headers, "whatsapp")).config).toHaveProperty("webhookUrl");
    expect((await shown(h, viewer, "whatsapp")).config).not.toHaveProperty("webhookUrl");
    expect((await shown(h, viewer, "telegram")).config).toHaveProperty("webhookUrl");
  });

  it("are refused by field, and then nothing changes", async () => {
    const { h, headers } = await withMessengers({ address });
    const bad: [string, Fields | string, string][] = [
      ["telegram", { enabled: true }, "config.botToken: is needed before telegram can be turned on"],
      ["slack", { enabled: true, config: { botToken: slackTokens.botToken } }, "config.signingSecret: is needed"],
      ["slack", { enabled: true, config: { ...byWebhook, transport: "socket" } }, "config.appToken: is needed"],
      ["whatsapp", { enabled: true, config: { authToken } }, "config.whatsappNumber: is needed"],
      ["telegram", { config: { bottoken: telegramToken } }, "config.bottoken: is no field of telegram, which has: bot"],
      ["telegram", '{"config":{"__proto__":{"botToken":"x"}}}', "config.__proto__: is no field of telegram"],
      ["telegram", { config: { botToken: "a token" } }, "config.botToken: must be the token that BotFather gave"],
      ["telegram", { config: { botToken: `${telegramToken}\u0000` } }, "config.botToken: "],
      ["telegram", { config: { botToken: `1:${"x".repeat(600)}` } }, "config.botToken: "],
      ["telegram", { config: { botToken: 5 } }, "config.botToken: "],
      ["telegram", { config: { allowedUserIds: "ada" } }, "config.allowedUserIds: must be numeric ids"],
      ["telegram", { config: { transport: "socket" } }, "config.transport: "],
      ["telegram", { config: null }, "config: "],
      ["telegram", { config: [bot] }, "config: "],
      ["telegram", { enabled: "yes" }, "enabled: "],
      ["slack", { config: { botToken: "xoxp-1234567890" } }, "config.botToken: must be the Bot User OAuth Token"],
      ["slack", { config: { signingSecret: "short" } }, "config.signingSecret: "],
      ["whatsapp", { config: { accountSid: "AC1" } }, "config.accountSid: must be AC and 32 hexadecimal characters"],
      ["whatsapp", { config: { apiKeySid: `SK${"1".repeat(31)}` } }, "config.apiKeySid: must be SK and 32 characters"],
      ["whatsapp", { config: { whatsappNumber: "whatsapp:+14155238886" } }, "config.whatsappNumber: must be plain"],
      ["whatsapp", { config: { whatsappNumber: "+0" } }, "config.whatsappNumber: must be plain E.164"],
      ["whatsapp", { config: { mode: "oauth" } }, "config.mode: "],
      ["agent", { enabled: false, config: { who: "all" } }, "config.who: is no field of agent, which has: none"],
    ];
    for (const [type, body, message] of bad) {
      const answer = await h.request(`/api/instances/one/channels/${type}`, {
        method: "PUT",
        headers: { ...headers, "Content-Type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const text = await answer.text();
      expect([body, answer.status]).toEqual([body, 400]);
      expect(JSON.parse(text).message).toContain(message);
    }
    expect(await h.services.database.db.select().from(channels)).toEqual([]);
    expect(await h.services.database.db.select().from(jobs)).toEqual([]);
  });

  it("of any kind get 200 or 400, and never another answer", async () => {
    const { h, headers } = await withMessengers({ address });
    const values = [...secretsOf, "", "••••", "webhook", "socket", "api_key", account.accountSid, "+14155238886", null];
    const value = fc.oneof(fc.constantFrom(...values), fc.jsonValue(), fc.string({ unit: "binary" }));
    const names = Object.keys({ ...bot, ...slackTokens, ...byToken, ...byKey, mode: 0, transport: 0, __proto__: 0 });
    const config = fc.oneof(
      { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 }) },
      fc.jsonValue(),
    );
    const body = fc.record({ enabled: fc.constantFrom(true, false), config }, { requiredKeys: [] });
    const type = fc.constantFrom("telegram", "slack", "whatsapp", "agent");
    await fc.assert(
      fc.asyncProperty(type, body, async (name, json) => {
        expect([200, 400]).toContain((await put(h, headers, name, json)).status);
        expect(["off", "starting", "running", "failing"]).toContain((await shown(h, headers, name)).status);
      }),
      { numRuns: 150 },
    );
  });

  it("are changed by who may, of an agent within reach", async () => {
    const { h, headers } = await withMessengers({ address });
    const viewer = await h.as("viewer");
    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    const send = (as: Record<string, string>, method: string, path: string) =>
      h.request(`/api/instances/${path}`, {
        method,
        headers: as,
        ...(method === "PUT" ? { json: { config: bot } } : {}),
      });
    for (const method of ["PUT", "DELETE"]) {
      expect((await send(viewer, method, "one/channels/telegram")).status).toBe(403);
      expect((await send(stranger, method, "one/channels/telegram")).status).toBe(404);
      for (const path of ["%00/channels/telegram", "one/channels/..%2ftelegram", "one/channels/telegram%00"]) {
        expect([path, (await send(headers, method, path)).status]).toEqual([path, 404]);
      }
    }
    expect(await openMessenger(h.services, { slug: "one\u0000" }, "telegram")).toBeNull();
  });

  it("are in no answer, log, audit entry or row except encrypted, and the audit names them", async () => {
    const { h, headers } = await withMessengers({ address });
    const answers = [
      await put(h, headers, "telegram", { enabled: true, config: bot }),
      await put(h, headers, "slack", { enabled: true, config: slackTokens }),
      await put(h, headers, "whatsapp", { enabled: true, config: byKey }),
      await put(h, headers, "whatsapp", { enabled: true, config: { authToken } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await h.request("/api/instances/one/channels/slack", { method: "DELETE", headers });
    await h.request("/api/instances/one/channels/slack", { method: "DELETE", headers });
    const { db } = h.services.database;
    const entries = (await db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id)).filter(
      ({ action }) => action.startsWith("agent.channel."),
    );
    expect(entries.map(({ action }) => action)).toEqual([
      "agent.channel.telegram.update",
      "agent.channel.slack.update",
      "agent.channel.whatsapp.update",
      "agent.channel.whatsapp.update",
      "agent.channel.slack.delete",
    ]);
    expect(entries[3]?.summary).toEqual({
      replaced: ["apiKeySecret", "apiKeySid", "authToken", "mode"],
      changes: {},
    });
    const rows = [await db.select().from(jobs), await db.select().from(channels), entries];
    const bytes = (await db.select().from(channels)).map(({ config }) => String.fromCharCode(...config));
    const all = [JSON.stringify([answers, rows]), ...bytes, ...h.logs].join("\n");
    for (const secret of secretsOf) expect(all).not.toContain(secret);
  });

  it("are no words of a turn of the agent", async () => {
    const said = [telegramToken, apiKeySecret].join(" and ");
    const { h } = await withMessengers({ address, more: { model: scriptedModel(() => reply(said)) } });
    const { slug, key, headers } = await h.agent();
    const ask = async () => {
      const answer = await h.request("/v1/chat/completions", {
        method: "POST",
        headers: { Authorization: `Bearer ${key}` },
        json: { model: slug, messages: [{ role: "user", content: "Tell me" }] },
      });
      const body = (await answer.json()) as { choices: { message: { content: string } }[] };
      return body.choices[0]?.message.content;
    };
    expect(await ask()).toBe(said);
    await put(h, headers, "telegram", { config: bot }, slug);
    await put(h, headers, "whatsapp", { config: byKey }, slug);
    expect(await ask()).toBe("[secret] and [secret]");
  });

  it("are sealed again by a rotation of the key, with the mark of the account and what a job holds", async () => {
    const { h, headers } = await withMessengers({ address });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await put(h, headers, "slack", { enabled: true, config: byWebhook });
    await put(h, headers, "slack", { enabled: false });
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "two" } });
    const former = { botToken: "987654321:AAExampleToken-of_another_bot0123456" };
    await put(h, headers, "telegram", { enabled: true, config: former }, "two");
    await put(h, headers, "telegram", { enabled: false }, "two");
    // Telegram is unavailable, so that leaving the bot is pending.
    const leaves = async () =>
      (await h.services.database.db.select().from(jobs)).filter((j) => j.kind === "channel.leave");
    await expect.poll(leaves).toMatchObject([{ lastError: "Telegram cannot be reached (ECONNREFUSED)" }]);
    const { db } = h.services.database;
    const both = {
      ...h.services,
      cipher: await createCipher([new Uint8Array(32).fill(8), new Uint8Array(32).fill(7)]),
    };
    const alone = { ...h.services, cipher: await createCipher([new Uint8Array(32).fill(8)]) };
    const before = await inspectSecrets(both);
    expect(before.older).toBe(before.sealed);
    await rotateSecrets(both);
    expect(await inspectSecrets(both)).toMatchObject({ older: 0, sealed: before.sealed });
    expect(await openMessenger(alone, { slug: "one" }, "telegram")).toMatchObject({ enabled: true });
    const other = crypto.randomUUID();
    await expect(claimAccount(db, alone.cipher, other, "telegram", bot)).rejects.toThrow("Another agent uses this bot");
    const [agent] = await db.select().from(agents).where(eq(agents.slug, "one"));
    expect(await claimAccount(db, alone.cipher, agent?.id ?? "", "telegram", bot)).not.toBeNull();
    const [left] = await leaves();
    const { batch, keys } = left?.payload as { batch: string; keys: { keyId: string; ciphertext: string } };
    const sealed = { keyId: keys.keyId, ciphertext: fromBase64(keys.ciphertext) ?? new Uint8Array() };
    expect(JSON.parse(await alone.cipher.open(sealed, `leave:${batch}`))).toMatchObject(former);
    const [slack] = await db.select().from(channels).where(eq(channels.type, "slack"));
    expect(slack?.accountHmac).toBeNull();
  });

  it("can be deleted, as can their agent, when their key is lost", async () => {
    const { h, headers } = await withMessengers({ address });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await put(h, headers, "whatsapp", { enabled: true, config: byKey });
    await h.services.database.db.update(channels).set({ keyId: "lost" });
    const remove = async (path: string) =>
      (await h.request(`/api/instances/one${path}`, { method: "DELETE", headers })).status;
    expect(await remove("/channels/telegram")).toBe(200);
    expect(await put(h, headers, "telegram", { enabled: true, config: bot })).toMatchObject({ status: 200 });
    expect(await remove("")).toBe(200);
  });
});

describe("the channel of other agents", () => {
  it("is on unless it was turned off, and says so in the audit log once", async () => {
    const { h, headers } = await withMessengers();
    expect(await shown(h, headers, "agent")).toMatchObject({ enabled: true, status: "running" });
    expect(await put(h, headers, "agent", { enabled: true })).toMatchObject({ channel: { enabled: true } });
    const off = async () =>
      (await h.request("/api/instances/one/channels/agent", { method: "DELETE", headers })).status;
    expect([await off(), await off()]).toEqual([200, 200]);
    expect(await shown(h, headers, "agent")).toMatchObject({ enabled: false, status: "off" });
    expect(await put(h, headers, "agent", {})).toMatchObject({ channel: { enabled: false } });
    expect(await put(h, headers, "agent", { enabled: true, config: {} })).toMatchObject({ channel: { enabled: true } });
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id);
    const ours = entries.filter(({ action }) => action.startsWith("agent.channel."));
    expect(ours.map(({ action, summary }) => [action, summary])).toEqual([
      ["agent.channel.agent.delete", { changes: { enabled: { from: true, to: false } } }],
      ["agent.channel.agent.update", { changes: { enabled: { from: false, to: true } } }],
    ]);
  });

  it("is no tool of the workspace any more once it is off", async () => {
    const { h, headers } = await withMessengers();
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "two" } });
    const tools = async () => {
      const answer = await h.request("/api/instances/two/tools", { headers });
      return JSON.stringify(await answer.json()).includes("agent:one");
    };
    const enable = () =>
      h.request("/api/instances/two/tools", { method: "PATCH", headers, json: { enabled: ["agent:one"] } });
    expect(await tools()).toBe(true);
    await put(h, headers, "agent", { enabled: false });
    expect(await tools()).toBe(false);
    expect((await enable()).status).toBe(400);
    await put(h, headers, "agent", { enabled: true });
    expect((await enable()).status).toBe(200);
  });
});
