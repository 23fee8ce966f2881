import { asc } from "drizzle-orm";
import { expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { providerBindings, providerConnections, secrets } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { openKey } from "../../../src/features/providers/connections/store.ts";
import { harness, managedEdition } from "../../harness.ts";
import { auditOf, refusal } from "../organizations/callers.ts";
import { withProviders } from "./providers.ts";

/** An open edition with an agent that has these secrets, and engines of both editions over its database. */
async function withSecrets(values: Record<string, string>, fields: Record<string, unknown> = {}) {
  const h = await harness();
  const { slug, headers } = await h.agent({ provider: null, model: null, ...fields });
  const put = (app: { request: typeof h.engine.app.request }, given: Record<string, string>) => {
    const body = { secrets: Object.entries(given).map(([key, value]) => ({ key, value })) };
    const init = {
      method: "PUT",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    return app.request(`/api/instances/${slug}/secrets`, init, { remoteAddress: "192.0.2.1" });
  };
  expect((await put(h.engine.app, values)).status).toBe(200);
  const { db } = h.services.database;
  const inEdition = (edition: typeof openEdition) =>
    createEngine({ ...h.services, options: { ...h.services.options, edition } });
  return {
    ...h,
    slug,
    put,
    open: () => inEdition(openEdition),
    /** Starts the managed edition. */
    async start() {
      const engine = inEdition(managedEdition);
      await engine.boot({});
      return engine;
    },
    async read(engine: { app: typeof h.engine.app }, path: string) {
      const response = await engine.app.request(
        `/api/instances/${slug}/${path}`,
        { headers },
        { remoteAddress: "::1" },
      );
      return response.json();
    },
    async stored() {
      const connections = await db.select().from(providerConnections).orderBy(asc(providerConnections.name));
      const bindings = await db.select().from(providerBindings).orderBy(asc(providerBindings.role));
      const keys = await db.select({ key: secrets.key }).from(secrets).orderBy(asc(secrets.key));
      const nameOf = (id: string) => connections.find((one) => one.id === id)?.name;
      return {
        connections: await Promise.all(
          connections.map(async (row) => [row.name, row.provider, row.baseUrl, await openKey(h.services, row)]),
        ),
        bindings: bindings.map(({ role, connectionId, model }) => [role, nameOf(connectionId), model]),
        secrets: keys.map(({ key }) => key),
      };
    },
  };
}

const openai = { openai_api_key: "sk-of-the-agent-1", openai_base_url: "https://models.example.com/v1" };

test("the first start with the feature turns provider secrets into bound connections", async () => {
  const h = await withSecrets(
    { ...openai, mistral_api_key: "sk-of-the-agent-2", weather_token: "weather-token" },
    { provider: "openai", fastModel: "mistral:mistral-small-latest" },
  );
  const engine = await h.start();
  const converted = {
    connections: [
      ["mistral", "mistral", null, "sk-of-the-agent-2"],
      ["openai", "openai", "https://models.example.com/v1", "sk-of-the-agent-1"],
    ],
    bindings: [
      ["chat", "openai", null],
      ["fast", "mistral", null],
    ],
    secrets: ["auth_api_key", "weather_token"],
  };
  expect(await h.stored()).toEqual(converted);
  const listed = (await h.read(engine, "secrets")).secrets as { key: string; configured: boolean }[];
  expect(listed.filter(({ configured }) => configured).map(({ key }) => key)).toEqual([
    "auth_api_key",
    "weather_token",
  ]);
  const { roles } = await h.read(engine, "provider-roles");
  expect(roles.slice(0, 2)).toMatchObject([
    { source: "bound", usable: true, model: "gpt-5-mini", connection: { name: "openai", shared: false } },
    { source: "bound", usable: true, model: "mistral-small-latest", connection: { name: "mistral" } },
  ]);
  const log = (await auditOf(h)).filter(({ action }) => action === "provider-connection.create");
  expect(
    log.map(({ actorType, actorName, target, summary }) => [actorType, actorName, target, summary?.roles]),
  ).toEqual([
    ["system", "upgrade", h.slug, ["chat"]],
    ["system", "upgrade", h.slug, ["fast"]],
  ]);
  expect(JSON.stringify(log)).not.toContain("sk-of-the-agent");

  // A second start, or another replica's, finds nothing.
  await Promise.all([h.start(), h.start()]);
  expect(await h.stored()).toEqual(converted);
  expect((await auditOf(h)).filter(({ action }) => action === "provider-connection.create")).toHaveLength(2);
});

test("what was bound stays bound while the feature is off and when it comes back", async () => {
  const h = await withSecrets(openai);
  await h.start();
  expect((await h.put(h.open().app, { openai_api_key: "sk-of-the-agent-3" })).status).toBe(200);
  await h.start();
  expect(await h.stored()).toMatchObject({
    connections: [
      ["openai", "openai", "https://models.example.com/v1", "sk-of-the-agent-1"],
      ["openai 2", "openai", null, "sk-of-the-agent-3"],
    ],
    bindings: [["chat", "openai", null]],
    secrets: ["auth_api_key"],
  });
});

test("secrets that no encryption key opens stay, and keep nothing else from being converted", async () => {
  const h = await withSecrets({ ...openai, mistral_api_key: "sk-of-the-agent-2" });
  const { database } = h.services;
  await database.query("update secrets set key_id = 'lost' where key = 'openai_api_key'", []);
  await h.start();
  expect(await h.stored()).toMatchObject({
    connections: [["mistral", "mistral", null, "sk-of-the-agent-2"]],
    secrets: ["auth_api_key", "openai_api_key", "openai_base_url"],
  });
  expect(h.logs.join()).toContain("Secrets of a provider open with no configured key");
});

test("with the feature, secrets and the agent's former field name the new routes", async () => {
  const h = await withProviders();
  const put = (...keys: string[]) =>
    h.send("PUT", `/api/instances/${h.slug}/secrets`, {
      secrets: keys.map((key) => ({ key, value: "sk-0123456789" })),
    });
  for (const key of ["openai_api_key", "openai_compatible_base_url", "ollama_api_key"]) {
    expect(await refusal(put("weather_token", key))).toEqual([400, "Use provider connections"]);
    expect(await refusal(h.send("DELETE", `/api/instances/${h.slug}/secrets/${key}`))).toEqual([
      400,
      "Use provider connections",
    ]);
  }
  const { issues } = await (await put("weather_token", "openai_api_key")).json();
  expect(issues).toEqual([{ path: "secrets.1.key", message: "openai_api_key: Use provider connections" }]);
  // All or nothing; an empty value is skipped as everywhere.
  const { secrets: listed } = await h.answer(h.send("GET", `/api/instances/${h.slug}/secrets`));
  expect(listed.filter(({ configured }: { configured: boolean }) => configured)).toHaveLength(1);
  const skipped = { secrets: [{ key: "openai_api_key", value: "" }] };
  expect((await h.send("PUT", `/api/instances/${h.slug}/secrets`, skipped)).status).toBe(200);
  expect((await put("weather_token", "tracing_api_key")).status).toBe(400);
  expect((await put("weather_token")).status).toBe(200);

  for (const providerConnectionId of [null, "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d"]) {
    const made = h.send("POST", "/api/instances", { slug: "new", providerConnectionId });
    expect(await refusal(made)).toEqual([400, "Use provider-roles"]);
    const changed = h.send("PATCH", `/api/instances/${h.slug}`, { name: "New", providerConnectionId });
    expect(await refusal(changed)).toEqual([400, "Use provider-roles"]);
  }
  const open = await harness();
  const json = { slug: "new", providerConnectionId: null };
  expect((await open.request("/api/instances", { method: "POST", headers: await open.as("owner"), json })).status).toBe(
    201,
  );
});
