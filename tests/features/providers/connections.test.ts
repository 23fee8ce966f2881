import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, providerBindings, providerConnections } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { auditOf, nobody, refusal } from "../organizations/callers.ts";
import { apiKey, hint, type Providers, withProviders } from "./providers.ts";

const fields = { name: "OpenAI", provider: "openai", baseUrl: null, enabled: true, isDefault: false };
const shown = { ...fields, apiKeyHint: hint, usable: true, reason: null, roles: [] };

/** Binds the agent's role `chat` to a connection. */
async function bind(h: Providers, connectionId: string, fallbacks: string[] = []) {
  const { db } = h.services.database;
  const [agent] = await db.select().from(agents).where(eq(agents.slug, h.slug));
  const row = { agentId: agent?.id ?? "", role: "chat" as const, connectionId };
  await db
    .insert(providerBindings)
    .values({ ...row, fallbacks: fallbacks.map((id) => ({ connectionId: id, model: null })) })
    .onConflictDoUpdate({ target: [providerBindings.agentId, providerBindings.role], set: row });
}

test.each(["shared", "private"] as const)("a %s connection is made, shown, changed and deleted", async (scope) => {
  const h = await withProviders();
  const path = scope === "shared" ? h.shared : h.own;
  expect(await h.list(path)).toEqual([]);
  const made = await h.connect(path);
  expect(made).toEqual({ ...shown, id: made.id });
  const one = `${path}/${made.id}`;

  const changed = await h.answer(h.send("PATCH", one, { name: " Main ", enabled: false }));
  const after = { ...made, name: "Main", enabled: false, usable: false, reason: "disabled" };
  expect(changed).toEqual({ connection: after });
  // The hint, an empty text and no key keep the stored key; equal fields change nothing.
  for (const kept of [hint, "", undefined, apiKey]) {
    await h.answer(h.send("PATCH", one, { name: "Main", ...(kept === undefined ? {} : { apiKey: kept }) }));
  }
  expect(await h.list(path)).toEqual([after]);
  const keyless = await h.answer(h.send("PATCH", one, { apiKey: null, enabled: true }));
  expect(keyless.connection).toMatchObject({ apiKeyHint: null, usable: false, reason: "no-key" });
  expect((await h.send("POST", `${one}/test`)).status).toBe(200);
  expect((await h.send("DELETE", one)).status).toBe(200);
  expect(await h.list(path)).toEqual([]);
  expect(await refusal(h.send("DELETE", one))).toEqual([404, "Connection not found"]);

  const log = (await auditOf(h)).filter(({ action }) => action.startsWith("provider-connection."));
  const target = (name: string) => (scope === "shared" ? name : h.slug);
  expect(log.map((entry) => [entry.action, entry.target, Object.keys(Object(entry.summary?.changes)).sort()])).toEqual([
    ["provider-connection.create", target("OpenAI"), []],
    ["provider-connection.update", target("OpenAI"), ["enabled", "name"]],
    ["provider-connection.update", target("Main"), ["apiKey", "enabled"]],
    ["provider-connection.test", target("Main"), []],
    ["provider-connection.delete", target("Main"), []],
  ]);
  const rows = await h.services.database.query("select * from audit_logs", []);
  expect(JSON.stringify(rows) + h.logs.join()).not.toContain(apiKey);
});

test("a key is stored sealed for its row", async () => {
  const h = await withProviders();
  const { id } = await h.connect(h.shared);
  const [row] = await h.services.database.db.select().from(providerConnections);
  if (!row?.keyId || !row.ciphertext) throw new Error("The key is not stored");
  expect(new TextDecoder("latin1").decode(row.ciphertext)).not.toContain(apiKey);
  const sealed = { keyId: row.keyId, ciphertext: row.ciphertext };
  expect(await h.services.cipher.open(sealed, `provider_connections:${id}`)).toBe(apiKey);
  await expect(h.services.cipher.open(sealed, `provider_connections:${newId()}`)).rejects.toThrow();
});

test("a key goes to no other origin than the one that it was stored for", async () => {
  const h = await withProviders();
  const own = await h.connect(h.shared);
  const other = await h.connect(h.shared, { name: "Proxy", baseUrl: "https://models.example.com/a" });
  const move = async (id: string, changes: object) =>
    (await h.answer(h.send("PATCH", `${h.shared}/${id}`, changes))).connection.apiKeyHint;
  // Another path, or the provider's own address in words, is the same origin.
  expect(await move(other.id, { baseUrl: "https://models.example.com/b" })).toBe(hint);
  expect(await move(own.id, { baseUrl: "https://api.openai.com/v1" })).toBe(hint);
  for (const kept of [{}, { apiKey: hint }, { apiKey: "" }]) {
    await move(other.id, { baseUrl: "https://models.example.com", apiKey });
    expect(await move(other.id, { baseUrl: "https://evil.example.com", ...kept })).toBeNull();
  }
  await move(other.id, { baseUrl: "https://models.example.com", apiKey });
  expect(await move(other.id, { baseUrl: null })).toBeNull();
  expect(await move(own.id, { baseUrl: "https://evil.example.com", apiKey: "sk-another-0123-77b7" })).toBe("••••77b7");
  const audit = JSON.stringify(await auditOf(h));
  expect(audit).toContain("(deleted)");
  expect(audit).not.toContain("evil.example.com");
});

test("an organization has one default, which a new one takes over", async () => {
  const h = await withProviders();
  const revision = await h.revision();
  const first = await h.connect(h.shared, { name: "First", isDefault: true });
  const second = await h.connect(h.shared, { name: "Second", isDefault: true });
  const defaults = async () => (await h.list(h.shared)).map(({ isDefault }: { isDefault: boolean }) => isDefault);
  expect(await defaults()).toEqual([false, true]);
  await h.answer(h.send("PATCH", `${h.shared}/${first.id}`, { isDefault: true }));
  expect(await defaults()).toEqual([true, false]);
  // Agents load the default with the next turn.
  expect(await h.revision()).toBe(revision + 3);
  await h.answer(h.send("PATCH", `${h.shared}/${second.id}`, { enabled: false }));
  expect(await h.revision()).toBe(revision + 3);
  expect((await h.send("DELETE", `${h.shared}/${first.id}`)).status).toBe(200);
  expect([await defaults(), await h.revision()]).toEqual([[false], revision + 4]);
});

test("names are unique in a scope, which holds 50 connections", async () => {
  const h = await withProviders();
  const another = await h.agent({ slug: "another" });
  const elsewhere = `/api/instances/${another.slug}/provider-connections`;
  for (const path of [h.shared, h.own, elsewhere]) await h.connect(path);
  const taken = [409, "The name OpenAI is taken"];
  const repeated = { name: "OpenAI", provider: "mistral" };
  for (const path of [h.shared, h.own]) expect(await refusal(h.send("POST", path, repeated))).toEqual(taken);
  const { id } = await h.connect(h.own, { name: "Other" });
  expect(await refusal(h.send("PATCH", `${h.own}/${id}`, { name: "OpenAI" }))).toEqual(taken);

  const { db } = h.services.database;
  const { id: organizationId } = h.organization;
  const rows = Array.from({ length: 49 }, (_, at) => ({ organizationId, name: `C${at}`, provider: "demo" as const }));
  await db.insert(providerConnections).values(rows);
  const full = [409, "A scope has at most 50 connections"];
  expect(await refusal(h.send("POST", h.shared, { name: "One more", provider: "demo" }))).toEqual(full);
  // The agent's own scope has room.
  await h.connect(h.own, { name: "One more" });
});

test("a connection exists only in its own scope", async () => {
  const h = await withProviders();
  const another = `/api/instances/${(await h.agent({ slug: "another" })).slug}/provider-connections`;
  const [shared, own] = [await h.connect(h.shared), await h.connect(h.own)];
  const missing = [404, "Connection not found"];
  const wrong = [`${h.own}/${shared.id}`, `${h.shared}/${own.id}`, `${another}/${own.id}`, `${h.own}/${nobody}`];
  for (const path of [...wrong, `${h.own}/%00`, `${h.shared}/..%2f..`]) {
    expect(await refusal(h.send("PATCH", path, { name: "Mine" })), path).toEqual(missing);
    expect(await refusal(h.send("DELETE", path)), path).toEqual(missing);
    expect(await refusal(h.send("POST", `${path}/test`)), path).toEqual(missing);
  }
});

test("a connection with an invalid field is a 400", async () => {
  const h = await withProviders();
  const visible = "must not contain NUL or unpaired surrogates";
  const rows = [
    [{ name: " " }, "name: must not be empty"],
    [{ name: "x".repeat(65) }, "name: must be at most 64 characters"],
    [{ name: "a\u0000" }, `name: ${visible}`],
    [{ provider: "cohere" }, expect.stringContaining("provider: must be one of: openai, ")],
    [{ provider: "ollama" }, "baseUrl: must be given for ollama and openai-compatible"],
    [{ baseUrl: "ftp://models.example.com" }, "baseUrl: must be an http or https address"],
    [{ baseUrl: "https://u:p@models.example.com" }, "baseUrl: must hold no password"],
    [{ baseUrl: "https://models.example.com/\u0000" }, `baseUrl: ${visible}`],
    [{ apiKey: "short" }, expect.stringContaining("apiKey: must have at least 6 characters")],
    [{ apiKey: "sk-with\nline" }, "apiKey: must be visible ASCII characters"],
    [{ isDefault: true }, "isDefault: only a shared connection can be the default"],
  ] as const;
  for (const [wrong, message] of rows) {
    const json = { name: "OpenAI", provider: "openai", apiKey, ...wrong };
    expect(await refusal(h.send("POST", h.own, json)), JSON.stringify(wrong)).toEqual([400, message]);
  }
  expect(await h.list(h.own)).toEqual([]);
});

test("a provider is fixed, and an address that a provider needs stays", async () => {
  const h = await withProviders();
  const { id } = await h.connect(h.own, { provider: "openai-compatible", baseUrl: "https://models.example.com" });
  const change = (json: object) => refusal(h.send("PATCH", `${h.own}/${id}`, json));
  const fixed = [400, "provider: can't be changed; make another connection"];
  expect(await change({ provider: "openai" })).toEqual(fixed);
  expect(await change({ baseUrl: null })).toEqual([400, "baseUrl: must be given for ollama and openai-compatible"]);
  expect((await h.send("PATCH", `${h.own}/${id}`, { provider: "openai-compatible" })).status).toBe(200);
});

test("a bound connection is not deleted, and a change of it concerns the agents that bind it", async () => {
  const h = await withProviders();
  const other = await h.agent({ slug: "another" });
  const [first, second] = [await h.connect(h.shared, { name: "A" }), await h.connect(h.shared, { name: "B" })];
  await bind(h, first.id, [second.id]);
  expect((await h.list(h.shared)).map(({ roles }: { roles: string[] }) => roles)).toEqual([["chat"], ["chat"]]);
  const [revision, others] = [await h.revision(), await h.revision(other.slug)];
  for (const { id } of [first, second]) {
    const bound = [409, "The connection is bound to a role"];
    for (const spelling of [id, id.toUpperCase()]) {
      expect(await refusal(h.send("DELETE", `${h.shared}/${spelling}`))).toEqual(bound);
    }
    await h.answer(h.send("PATCH", `${h.shared}/${id}`, { enabled: false }));
  }
  expect([await h.revision(), await h.revision(other.slug)]).toEqual([revision + 2, others]);
});

test("a rotated encryption key opens connections, and one without its key is unusable, then forgotten by name", async () => {
  const [first, second, third] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
  if (!first || !second || !third) throw new Error("There are three keys");
  const h = await withProviders({ keys: [first] });
  await h.engine.boot({});
  await h.connect(h.shared);
  await h.connect(h.own);
  const withKeys = async (...keys: Uint8Array<ArrayBuffer>[]) =>
    createEngine({ ...h.services, cipher: await createCipher(keys) });
  await (await withKeys(second, first)).rotateKey();
  const listIn = async (engine: Awaited<ReturnType<typeof withKeys>>) => {
    const response = await engine.app.request(h.shared, { headers: h.owner }, { remoteAddress: "192.0.2.1" });
    return (await response.json()).connections;
  };
  expect(await listIn(await withKeys(second))).toMatchObject([{ apiKeyHint: hint, usable: true }]);
  const lost = await withKeys(third);
  expect(await listIn(lost)).toMatchObject([{ apiKeyHint: null, reason: "no-key" }]);

  const names: string[] = [];
  await lost.forgetSecrets(async (found) => {
    names.push(...found);
    return true;
  });
  const key = "key of the provider connection OpenAI of";
  expect(names).toEqual(expect.arrayContaining([`${key} agent ${h.slug}`, `${key} organization acme`]));
  const rows = await h.services.database.db.select().from(providerConnections);
  expect(rows.map(({ keyId, ciphertext }) => [keyId, ciphertext])).toEqual([
    [null, null],
    [null, null],
  ]);
});
