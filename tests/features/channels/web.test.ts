import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agents, auditLogs, channels, secrets } from "../../../src/db/schema.ts";
import { openWebConfig } from "../../../src/features/channels/index.ts";
import { mappingProblems, originOf } from "../../../src/features/channels/rules.ts";
import { type Harness, harness } from "../../harness.ts";

type Headers = Record<string, string>;
type Fields = Record<string, unknown>;

async function withAgent(fields: Fields = {}) {
  const h = await harness();
  const headers = await h.as("owner");
  await h.request("/api/instances", { method: "POST", headers, json: { slug: "one", ...fields } });
  return { h, headers };
}

const url = "/api/instances/one/channels";
async function put(h: Harness, headers: Headers, json: unknown, type = "web") {
  const answer = await h.request(`${url}/${type}`, { method: "PUT", headers, json });
  const body = (await answer.json()) as { channel: { enabled: boolean; config: Fields }; message: string };
  return { status: answer.status, body };
}
const turnOff = (h: Harness, headers: Headers, type = "web") =>
  h.request(`${url}/${type}`, { method: "DELETE", headers });
async function web(h: Harness, headers: Headers) {
  const body = (await (await h.request(url, { headers })).json()) as { channels: Fields[] };
  return body.channels[0];
}
async function instance(h: Harness, headers: Headers) {
  const body = (await (await h.request("/api/instances/one", { headers })).json()) as { instance: Fields };
  return body.instance;
}
const noKey =
  "Web needs an API key while authentication is on: send config.apiKey, or set config.requireAuthentication to false";

describe("the channel web", () => {
  it("is off to begin with", async () => {
    const { h, headers } = await withAgent();
    expect(await web(h, headers)).toEqual({
      channelType: "web",
      enabled: false,
      status: "off",
      lastError: null,
      lastReceivedAt: null,
      lastSentAt: null,
      config: { apiKeyConfigured: false, requireAuthentication: true, contextMapping: {}, allowedOrigins: [] },
    });
  });

  it("needs a key while authentication is on; one in the same request counts", async () => {
    const { h, headers } = await withAgent();
    expect(await put(h, headers, { enabled: true })).toMatchObject({ status: 400, body: { message: noKey } });
    expect(await put(h, headers, { enabled: true, config: { apiKey: "" } })).toMatchObject({ status: 400 });
    expect(await instance(h, headers)).toMatchObject({ webEnabled: false, revision: 1 });
    const on = await put(h, headers, { enabled: true, config: { apiKey: "key-1-of-an-agent" } });
    expect(on).toMatchObject({ status: 200, body: { channel: { enabled: true, config: { apiKeyConfigured: true } } } });
    expect(await instance(h, headers)).toMatchObject({ webEnabled: true, authEnabled: true, revision: 2 });
  });

  it("takes a key that was saved as a secret before", async () => {
    const { h, headers } = await withAgent();
    const json = { secrets: [{ key: "auth_api_key", value: "key-1-of-an-agent" }] };
    await h.request("/api/instances/one/secrets", { method: "PUT", headers, json });
    expect((await put(h, headers, { enabled: true })).status).toBe(200);
  });

  it("needs no key without authentication, which is a field of the agent", async () => {
    const { h, headers } = await withAgent();
    const on = await put(h, headers, { enabled: true, config: { requireAuthentication: false } });
    expect(on).toMatchObject({ status: 200, body: { channel: { config: { requireAuthentication: false } } } });
    expect(await instance(h, headers)).toMatchObject({ authEnabled: false, webEnabled: true });
    expect(await put(h, headers, { config: { requireAuthentication: true } })).toMatchObject({
      status: 400,
      body: { message: noKey },
    });
    expect(await instance(h, headers)).toMatchObject({ authEnabled: false });
    // The agent's own switch may turn authentication on without a key: chat then answers that none is configured.
    const patch = await h.request("/api/instances/one", { method: "PATCH", headers, json: { authEnabled: true } });
    expect(patch.status).toBe(200);
    expect(await web(h, headers)).toMatchObject({ enabled: true, config: { requireAuthentication: true } });
  });

  it("refuses two switches that contradict each other", async () => {
    const { h, headers } = await withAgent();
    const contradiction = await put(h, headers, { config: { requireAuthentication: true, authEnabled: false } });
    expect(contradiction.status).toBe(400);
    expect(contradiction.body.message).toBe(
      "config.requireAuthentication: contradicts authEnabled: send one of the two",
    );
    expect((await put(h, headers, { config: { requireAuthentication: false, authEnabled: false } })).status).toBe(200);
    expect((await put(h, headers, { config: { authEnabled: true } })).status).toBe(200);
    expect(await instance(h, headers)).toMatchObject({ authEnabled: true });
  });

  it("merges what is sent into what is stored", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, { config: { contextMapping: { a: "user.id", _private: "user" } } });
    await put(h, headers, {
      config: { allowedOrigins: ["https://Example.com/", "https://example.com", "http://localhost:3000"] },
    });
    await put(h, headers, { enabled: true, config: { apiKey: "key-1-of-an-agent" } });
    const config = {
      apiKeyConfigured: true,
      requireAuthentication: true,
      contextMapping: { a: "user.id", _private: "user" },
      allowedOrigins: ["https://example.com", "http://localhost:3000"],
    };
    expect(await web(h, headers)).toMatchObject({ channelType: "web", enabled: true, config });
    const replaced = await put(h, headers, { config: { contextMapping: { b: "x" }, allowedOrigins: "*" } });
    expect(replaced.body.channel.config).toMatchObject({ contextMapping: { b: "x" }, allowedOrigins: ["*"] });
    const cleared = await put(h, headers, { config: { contextMapping: {}, allowedOrigins: [] } });
    expect(cleared.body.channel).toMatchObject({ enabled: true, config: { contextMapping: {}, allowedOrigins: [] } });
  });

  it("keeps key and mapping when it is turned off, and is off twice", async () => {
    const { h, headers } = await withAgent();
    expect((await turnOff(h, headers)).status).toBe(200);
    await put(h, headers, { enabled: true, config: { apiKey: "key-1-of-an-agent", contextMapping: { a: "b" } } });
    for (const _ of [1, 2]) {
      const answer = await turnOff(h, headers);
      expect([answer.status, await answer.json()]).toEqual([200, { deleted: true }]);
    }
    const config = { apiKeyConfigured: true, contextMapping: { a: "b" } };
    expect(await web(h, headers)).toMatchObject({ enabled: false, config });
    expect((await put(h, headers, { enabled: true })).body.channel).toMatchObject({ enabled: true, config });
    expect((await put(h, headers, { enabled: false })).body.channel).toMatchObject({ enabled: false, config });
  });

  it("stays on when its key is deleted, and says that there is none", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, { enabled: true, config: { apiKey: "key-1-of-an-agent" } });
    await h.request("/api/instances/one/secrets/auth_api_key", { method: "DELETE", headers });
    expect(await web(h, headers)).toMatchObject({ enabled: true, config: { apiKeyConfigured: false } });
  });

  it("bumps the revision with every change", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, { enabled: true, config: { apiKey: "key-1-of-an-agent" } });
    await put(h, headers, {});
    await turnOff(h, headers);
    expect(await instance(h, headers)).toMatchObject({ revision: 4 });
  });

  it("shows no part of the key, anywhere", async () => {
    const { h, headers } = await withAgent();
    const key = "visible-nowhere-wxyz";
    const answer = await put(h, headers, { enabled: true, config: { apiKey: key, contextMapping: { a: "b" } } });
    await put(h, headers, { config: { apiKey: "••••wxyz" } });
    expect(await web(h, headers)).toMatchObject({ config: { apiKeyConfigured: true } });
    const stored = [...(await h.services.database.db.select().from(secrets)).map((row) => row.ciphertext)];
    const sealed = [...stored, ...(await h.services.database.db.select().from(channels)).map((row) => row.config)];
    const audit = JSON.stringify(await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id));
    const texts = [JSON.stringify(answer), JSON.stringify(await web(h, headers)), audit, ...h.logs];
    for (const text of [...texts, ...sealed.map((bytes) => String.fromCharCode(...bytes))]) {
      expect(text).not.toContain("wxyz");
      expect(text).not.toContain("visible-nowhere");
    }
    expect(audit).toContain('"keyReplaced":true');
  });

  it("names in the audit log the replaced fields of the sealed configuration, and shows the change of the others", async () => {
    const { h, headers } = await withAgent();
    const config = { contextMapping: { canaryKey: "canary.path" }, allowedOrigins: ["https://canary.example"] };
    await put(h, headers, { enabled: true, config: { ...config, requireAuthentication: false } });
    await put(h, headers, { enabled: true, config });
    await put(h, headers, { config: { contextMapping: { other: "canary.path" } } });
    await turnOff(h, headers);
    await turnOff(h, headers);
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    const ours = entries.filter(({ action }) => action.startsWith("agent.channel."));
    const switches = { enabled: { from: false, to: true }, requireAuthentication: { from: true, to: false } };
    expect(ours.map(({ summary }) => summary)).toEqual([
      { keyReplaced: false, replaced: ["contextMapping", "allowedOrigins"], changes: switches },
      { keyReplaced: false, replaced: ["contextMapping"], changes: {} },
      { changes: { enabled: { from: true, to: false } } },
    ]);
    expect(JSON.stringify(entries)).not.toContain("canary");
  });

  it("opens its configuration for its own agent only", async () => {
    const { h, headers } = await withAgent();
    await put(h, headers, { config: { contextMapping: { a: "b" }, allowedOrigins: ["https://x.example"] } });
    const [agent] = await h.services.database.db.select().from(agents);
    const [row] = await h.services.database.db.select().from(channels);
    if (!agent || !row) throw new Error("Nothing stored");
    const { cipher } = h.services;
    expect(await openWebConfig(cipher, agent.id, row)).toEqual({
      contextMapping: { a: "b" },
      allowedOrigins: ["https://x.example"],
    });
    expect(await openWebConfig(cipher, agent.id, null)).toEqual({ contextMapping: {}, allowedOrigins: [] });
    await expect(openWebConfig(cipher, crypto.randomUUID(), row)).rejects.toThrow("does not open");
  });
});

describe("refusals", () => {
  it("knows which channels there are; those of managed builds are unknown", async () => {
    const { h, headers } = await withAgent();
    for (const type of [
      "rest",
      "email",
      "hubspot",
      "voice",
      "sms",
      "WEB",
      "__proto__",
      "toString",
      "%00",
      "%2e%2e%2fweb",
    ]) {
      expect(await put(h, headers, {}, type)).toMatchObject({ status: 404, body: { message: "Channel not found" } });
      expect((await turnOff(h, headers, type)).status).toBe(404);
    }
  });

  it("takes back what it shows, and no field that it does not have", async () => {
    const { h, headers } = await withAgent();
    const shown = await put(h, headers, { config: { allowedOrigins: ["https://x.example"] } });
    expect(shown.status).toBe(200);
    const { config } = (shown.body as { channel: { config: Fields } }).channel;
    expect(await put(h, headers, { config })).toMatchObject({ status: 200, body: { channel: { config } } });
    for (const field of ["requireAuthentification", "webhookUrl", "apikey", "constructor"]) {
      const message = expect.stringMatching(`^config\\.${field}: is no field of web, which has: apiKey, `);
      const issues = [{ path: `config.${field}` }];
      expect(await put(h, headers, { config: { [field]: false, allowedOrigins: [] } })).toMatchObject({
        status: 400,
        body: { message, issues },
      });
    }
    expect(await put(h, headers, {})).toMatchObject({ body: { channel: { config } } });
  });

  it("names the field of a bad configuration, and changes nothing", async () => {
    const { h, headers } = await withAgent();
    const sixtyFive = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, "a"]));
    const bad: [string, string][] = [
      ['{"enabled":"yes"}', "enabled: "],
      ['{"config":[]}', "config: "],
      ['{"config":{"apiKey":5}}', "config.apiKey: "],
      ['{"config":{"apiKey":"   "}}', "config.apiKey: must not be blank"],
      ['{"config":{"apiKey":"aek_x"}}', "config.apiKey: must not begin like"],
      ['{"config":{"apiKey":"fifteen-letters"}}', "config.apiKey: must have at least 16 characters"],
      ['{"config":{"requireAuthentication":"no"}}', "config.requireAuthentication: "],
      ['{"config":{"contextMapping":["a"]}}', "config.contextMapping: must be an object"],
      ['{"config":{"contextMapping":null}}', "config.contextMapping: must be an object"],
      ['{"config":{"contextMapping":{"__proto__":"a"}}}', "config.contextMapping.__proto__: this key can't be used"],
      ['{"config":{"contextMapping":{"a":"b.__proto__.c"}}}', "config.contextMapping.a: must be a dotted path"],
      ['{"config":{"contextMapping":{"a":"b..c"}}}', "config.contextMapping.a: must be a dotted path"],
      ['{"config":{"contextMapping":{"a":5}}}', "config.contextMapping.a: must be a dotted path, as text"],
      ['{"config":{"contextMapping":{"":"b"}}}', "config.contextMapping.: the key must have"],
      ['{"config":{"contextMapping":{"a\\u0000":"b"}}}', "this key can't be used"],
      [`{"config":{"contextMapping":{"a":"${"x".repeat(257)}"}}}`, "config.contextMapping.a: must have 1 to 256"],
      [`{"config":{"contextMapping":{"${"x".repeat(129)}":"a"}}}`, "the key must have 1 to 128 characters"],
      [
        JSON.stringify({ config: { contextMapping: sixtyFive } }),
        "config.contextMapping: must have at most 64 entries",
      ],
      ['{"config":{"allowedOrigins":"https://x.example"}}', "config.allowedOrigins: "],
      ['{"config":{"allowedOrigins":["https://*.example"]}}', "config.allowedOrigins.0: can't have a wildcard: name"],
      ['{"config":{"allowedOrigins":["https://x.example:*"]}}', "config.allowedOrigins.0: can't have a wildcard: name"],
      ['{"config":{"allowedOrigins":["x.example"]}}', "config.allowedOrigins"],
      ['{"config":{"allowedOrigins":["https://x.example/path"]}}', "config.allowedOrigins"],
      ['{"config":{"allowedOrigins":["javascript:alert(1)"]}}', "config.allowedOrigins"],
    ];
    for (const [body, message] of bad) {
      const answer = await h.request(`${url}/web`, {
        method: "PUT",
        headers: { ...headers, "Content-Type": "application/json" },
        body,
      });
      expect([body, answer.status]).toEqual([body, 400]);
      expect(((await answer.json()) as { message: string }).message).toContain(message);
    }
    expect(await instance(h, headers)).toMatchObject({ revision: 1 });
    expect(await h.services.database.db.select().from(channels)).toEqual([]);
  });

  it("takes no key that another agent uses", async () => {
    const { h, headers } = await withAgent();
    const other = await h.agent();
    expect((await put(h, headers, { enabled: true, config: { apiKey: other.key } })).status).toBe(409);
    expect(await web(h, headers)).toMatchObject({ enabled: false, config: { apiKeyConfigured: false } });
  });

  it("leaves changes to members, and another organization's agent unknown", async () => {
    const { h, headers } = await withAgent();
    const viewer = await h.as("viewer");
    expect((await h.request(url, { headers: viewer })).status).toBe(200);
    expect(await put(h, viewer, {})).toMatchObject({
      status: 403,
      body: { message: "Missing permission: agent.channel:write" },
    });
    expect((await turnOff(h, viewer)).status).toBe(403);
    expect((await put(h, await h.as("member"), {})).status).toBe(200);
    expect((await h.request(url)).status).toBe(401);

    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    const foreign = await h.request(url, { headers: stranger });
    const missing = await h.request("/api/instances/nobody/channels", { headers: stranger });
    expect(foreign.status).toBe(404);
    expect(await foreign.text()).toBe(await missing.text());
    expect(await put(h, stranger, {})).toMatchObject({ status: 404, body: { message: "Agent not found" } });
    expect((await turnOff(h, stranger)).status).toBe(404);
    expect(await instance(h, headers)).toMatchObject({ revision: 2 });
  });

  it("answers no body with a 500, nor touches what is not the channel's", async () => {
    const { h, headers } = await withAgent();
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: "binary" }),
      fc.constantFrom(true, false, "*", ["*"], "k", {}),
    );
    const names = [
      "apiKey",
      "requireAuthentication",
      "authEnabled",
      "contextMapping",
      "allowedOrigins",
      "slug",
      "__proto__",
    ];
    const config = fc.oneof(fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 }), fc.jsonValue());
    const body = fc.record({ enabled: value, config }, { requiredKeys: [] });
    const foreign = async () => {
      const [row] = await h.services.database.db.select().from(agents).where(eq(agents.slug, "one"));
      const { revision, updatedAt, authEnabled, authKeyHmac, ...rest } = row ?? {};
      return rest;
    };
    const before = await foreign();
    await fc.assert(
      fc.asyncProperty(body, async (json) => {
        expect([200, 400]).toContain((await put(h, headers, json)).status);
        expect(await foreign()).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });
});

describe("rules", () => {
  it.each([
    ["https://example.com", "https://example.com"],
    ["https://EXAMPLE.com:443/", "https://example.com"],
    ["http://localhost:3000", "http://localhost:3000"],
    ["*", "*"],
  ])("reads the origin %s", (text, origin) => {
    expect(originOf(text)).toBe(origin);
  });

  it.each([
    "",
    "null",
    "example.com",
    "https://",
    "https://a@b.example",
    "https://b.example?x",
    "ftp://b.example",
    "**",
  ])("finds no origin in %j", (text) => {
    expect(originOf(text)).toBeNull();
  });

  it("takes keys and paths that only look odd", () => {
    expect(mappingProblems({ _private: "a", "with space": "a b.c-d", toString: "x", "☃": "☃.0" })).toEqual([]);
  });
});
