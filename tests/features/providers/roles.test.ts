import { expect, test } from "vitest";
import { auditOf, nobody, refusal } from "../organizations/callers.ts";
import { apiKey, type Providers, withProviders } from "./providers.ts";

const refused = [400, "The workspace does not admit it"];
const lost = [404, "Connection not found"];

/** The names of a role's options. */
const optionsOf = async (h: Providers, role: string) =>
  (await h.role(role)).options.map(({ name }: { name: string }) => name);

test("every role says where its model comes from, and what may be bound", async () => {
  const h = await withProviders({ environmentKeys: { openai_api_key: "sk-of-the-environment" } });
  const nothing = { connection: null, fallbacks: [], reason: null, options: [] };
  expect((await h.answer(h.send("GET", `/api/instances/${h.slug}/provider-roles`))).roles).toEqual([
    { role: "chat", ...nothing, model: "gpt-5-mini", source: "environment", usable: true },
    { role: "fast", ...nothing, model: null, source: "none", usable: false },
    { role: "embedding", ...nothing, model: "text-embedding-3-small", source: "environment", usable: true },
    { role: "transcription", ...nothing, model: null, source: "none", usable: false },
    { role: "speech", ...nothing, model: null, source: "none", usable: false },
  ]);
  const { id } = await h.connect(h.shared, { name: "Claude", provider: "anthropic", isDefault: true });
  const voice = await h.connect(h.own, { name: "Voice", provider: "deepgram" });
  const connection = { id, name: "Claude", provider: "anthropic", shared: true };
  const { models, ...option } = (await h.role("chat")).options[0];
  expect(option).toEqual({ connectionId: id, name: "Claude", provider: "anthropic", shared: true });
  expect(models).toContain("claude-sonnet-5-5");
  const answering = { model: "claude-sonnet-5-5", source: "default", usable: true, reason: null };
  expect(await h.role("chat")).toMatchObject({ connection, ...answering });
  expect(await h.role("speech")).toMatchObject({
    source: "none",
    options: [{ connectionId: voice.id, name: "Voice", provider: "deepgram", shared: false, models: [] }],
  });
  expect(JSON.stringify(await h.role("speech"))).not.toContain(apiKey.slice(-4));
});

test("a role is bound, replaced and unbound, with an entry for each change", async () => {
  const h = await withProviders();
  const [first, second] = [await h.connect(h.shared), await h.connect(h.own, { name: "Own", provider: "mistral" })];
  const revision = await h.revision();
  const binding = { connectionId: first.id, model: "gpt-5-nano", fallbacks: [{ connectionId: second.id }] };
  const { role } = await h.answer(h.bind("chat", binding));
  expect(role).toMatchObject({
    role: "chat",
    connection: { id: first.id, name: "OpenAI", provider: "openai", shared: true },
    model: "gpt-5-nano",
    fallbacks: [{ connectionId: second.id, model: "mistral-medium-latest" }],
    ...{ source: "bound", usable: true, reason: null },
  });
  expect(await h.role("chat")).toEqual(role);
  expect(await h.revision()).toBe(revision + 1);
  // The same once more is no change.
  await h.answer(h.bind("chat", { ...binding, connectionId: first.id.toUpperCase() }));
  await h.answer(h.bind("chat", { connectionId: second.id }));
  const unbound = await h.answer(h.bind("chat", { connectionId: null, fallbacks: [{ connectionId: nobody }] }));
  expect(unbound.role).toMatchObject({ connection: null, model: "demo", fallbacks: [], source: "none", usable: true });
  const log = (await auditOf(h)).filter(({ action }) => action === "provider-role.update");
  const stored = { ...binding, fallbacks: [{ connectionId: second.id, model: null }] };
  const own = { connectionId: second.id, model: null, fallbacks: [] };
  expect(log.map(({ target, summary }) => [target, summary])).toEqual([
    [h.slug, { changes: { chat: { from: null, to: stored } } }],
    [h.slug, { changes: { chat: { from: stored, to: own } } }],
    [h.slug, { changes: { chat: { from: own, to: null } } }],
  ]);
  expect((await h.send("DELETE", `${h.own}/${second.id}`)).status).toBe(200);
});

test("only an option of the role is bound", async () => {
  const h = await withProviders();
  const another = `/api/instances/${(await h.agent({ slug: "another" })).slug}/provider-connections`;
  const elsewhere = await h.createOrganization("elsewhere");
  const theirs = await h.answer(
    h.send(
      "POST",
      "/api/organizations/elsewhere/provider-connections",
      { name: "Theirs", provider: "demo" },
      await h.as("owner", { organization: elsewhere }),
    ),
  );
  const main = await h.connect(h.shared);
  const off = await h.connect(h.shared, { name: "Off", enabled: false });
  const keyless = await h.connect(h.shared, { name: "Keyless", apiKey: null });
  const claude = await h.connect(h.shared, { name: "Claude", provider: "anthropic" });
  const foreign = [nobody, theirs.connection.id, (await h.connect(another)).id];
  const to = (connectionId: string, more: object = {}) => ({ connectionId, ...more });

  for (const id of foreign) {
    expect(await refusal(h.bind("chat", to(id)))).toEqual(lost);
    expect(await refusal(h.bind("chat", to(main.id, { fallbacks: [to(id)] })))).toEqual(lost);
  }
  expect(await refusal(h.bind("thinking", to(main.id)))).toEqual([404, "Role not found"]);
  for (const { id } of [off, keyless]) {
    expect(await refusal(h.bind("chat", to(id)))).toEqual(refused);
    expect(await refusal(h.bind("chat", to(main.id, { fallbacks: [to(id)] })))).toEqual(refused);
  }
  // Anthropic neither embeds nor speaks.
  for (const role of ["embedding", "speech"]) expect(await refusal(h.bind(role, to(claude.id)))).toEqual(refused);
  const twice = [400, "fallbacks.1: names an entry twice"];
  const again = [to(claude.id), to(claude.id, { model: "claude-sonnet-5-5" })];
  expect(await refusal(h.bind("chat", to(main.id, { fallbacks: again })))).toEqual(twice);
  expect(await refusal(h.bind("chat", to(main.id, { fallbacks: [to(main.id, { model: "gpt-5-mini" })] })))).toEqual([
    400,
    "fallbacks.0: names an entry twice",
  ]);
  expect(await refusal(h.bind("speech", to(main.id)))).toEqual([400, "model: must name a model of this provider"]);
  const four = Array.from({ length: 4 }, (_, at) => to(main.id, { model: `gpt-${at}` }));
  expect(await refusal(h.bind("chat", to(main.id, { fallbacks: four })))).toEqual([
    400,
    "fallbacks: must have at most 3 entries",
  ]);
  expect((await h.bind("chat", to(main.id, { model: "../admin" }))).status).toBe(400);
  expect((await h.role("chat")).source).toBe("none");
  // Another model of the same connection is another entry.
  expect((await h.bind("chat", to(main.id, { fallbacks: [to(main.id, { model: "gpt-5-nano" })] }))).status).toBe(200);
});

test("embeddings fall back to the same model only", async () => {
  const h = await withProviders();
  const [first, second] = [await h.connect(h.shared), await h.connect(h.own)];
  const bind = (model: string | null) =>
    h.bind("embedding", { connectionId: first.id, fallbacks: [{ connectionId: second.id, model }] });
  expect(await refusal(bind("text-embedding-3-large"))).toEqual([
    400,
    "fallbacks.0.model: must have the model of the binding, since vectors of two models can't be compared",
  ]);
  expect((await bind("text-embedding-3-small")).status).toBe(200);
});

test("options follow the workspace's admission, which makes a bound connection unusable", async () => {
  const h = await withProviders();
  const main = await h.connect(h.shared);
  const own = await h.connect(h.own, { name: "Own" });
  await h.answer(h.bind("chat", { connectionId: own.id, model: "gpt-5-nano" }));
  const revision = await h.revision();
  const admission = { admitted: [{ provider: "openai", models: ["gpt-5-mini"] }], privateConnections: true };
  expect(await h.admit(admission)).toEqual(admission);
  expect(await h.revision()).toBe(revision + 1);
  expect(await h.role("chat")).toMatchObject({
    ...{ source: "bound", connection: { id: own.id }, usable: false, reason: "not-admitted" },
    options: [{ models: ["gpt-5-mini"] }, { models: ["gpt-5-mini"] }],
  });
  expect(await refusal(h.bind("chat", { connectionId: main.id, model: "gpt-5-nano" }))).toEqual(refused);
  await h.admit({ admitted: null, privateConnections: false });
  expect(await optionsOf(h, "chat")).toEqual(["OpenAI"]);
  expect(await h.list(h.own)).toMatchObject([{ usable: false, reason: "not-admitted", roles: ["chat"] }]);
  await h.admit({ admitted: [{ provider: "mistral", models: null }] });
  expect([await optionsOf(h, "chat"), await h.list(h.shared)]).toEqual([
    [],
    [expect.objectContaining({ usable: true })],
  ]);
  await h.admit({ admitted: null });
  expect(await h.role("chat")).toMatchObject({ usable: true, reason: null });
});

test("a workspace's admission is read, replaced and checked", async () => {
  const h = await withProviders();
  const path = `/api/organizations/acme/workspaces/${h.organization.workspaceId}/providers`;
  const everything = { admitted: null, privateConnections: true };
  expect(await h.answer(h.send("GET", path))).toEqual(everything);
  const limited = { admitted: [{ provider: "mistral", models: null }], privateConnections: false };
  expect([await h.admit(limited), await h.answer(h.send("GET", path))]).toEqual([limited, limited]);
  await h.admit(limited);
  expect(await h.admit({ admitted: null })).toEqual(everything);
  const log = (await auditOf(h)).filter(({ action }) => action === "workspace-providers.update");
  expect(log.map(({ target, summary }) => [target, Object.keys(Object(summary?.changes)).sort()])).toEqual([
    ["default", ["admitted", "privateConnections"]],
    ["default", ["admitted", "privateConnections"]],
  ]);
  const wrong = async (json: Record<string, unknown>) => refusal(h.send("PUT", path, json));
  expect((await wrong({ admited: [] }))[0]).toBe(400);
  const openai = { provider: "openai", models: null };
  expect(await wrong({ admitted: [openai, openai] })).toEqual([400, "admitted: must not name a provider twice"]);
  expect((await wrong({ admitted: [{ provider: "openai", models: ["../x"] }] }))[0]).toBe(400);
  expect((await wrong({ admitted: [{ provider: "cohere", models: null }] }))[0]).toBe(400);
  const unknown = path.replace(h.organization.workspaceId, nobody);
  for (const method of ["GET", "PUT"]) {
    expect(await refusal(h.send(method, unknown, method === "PUT" ? everything : undefined))).toEqual([
      404,
      "Workspace not found",
    ]);
  }
});

test("an agent's providers are those that its workspace admits, with its connections and no keys", async () => {
  const h = await withProviders();
  await h.connect(h.shared, { enabled: false });
  await h.connect(h.own, { name: "Own", baseUrl: "https://models.example.com" });
  const providersOf = async () =>
    h.answer(h.send("GET", `/api/instances/${h.slug}/providers`, undefined, await h.as("viewer")));
  const all = await providersOf();
  expect(all.providers.map(({ provider }: { provider: string }) => provider)).toEqual([
    ...["openai", "anthropic", "google", "mistral", "ollama", "openai-compatible", "demo", "deepgram", "elevenlabs"],
  ]);
  expect(all.providers[0]).toMatchObject({
    models: expect.arrayContaining(["gpt-5-mini"]),
    connections: [
      { name: "OpenAI", shared: true, usable: false },
      { name: "Own", shared: false, usable: true },
    ],
  });
  expect(JSON.stringify(all)).not.toMatch(/85a5|models\.example/);
  const admitted = [
    { provider: "openai", models: ["gpt-of-ours"] },
    { provider: "mistral", models: [] },
  ];
  await h.admit({ admitted, privateConnections: false });
  const limited = await providersOf();
  expect(limited).toMatchObject({
    providers: [
      { provider: "openai", models: ["gpt-of-ours"], connections: [{ name: "OpenAI" }] },
      { provider: "demo", models: ["demo"], connections: [] },
    ],
    privateConnections: false,
  });
});

test("of a deletion and a binding of the same connection at once, one is refused", async () => {
  const h = await withProviders();
  const outcomes = [
    [200, 404],
    [409, 200],
  ];
  for (const [at, path] of [h.shared, h.own, h.shared, h.own].entries()) {
    const { id } = await h.connect(path, { name: `Connection ${at}` });
    const remove = () => h.send("DELETE", `${path}/${id}`);
    const bind = () => h.bind("chat", { connectionId: id });
    const order = at < 2 ? [remove, bind] : [bind, remove];
    const responses = await Promise.all(order.map((call) => call()));
    const statuses = responses.map(({ status }) => status);
    expect(outcomes).toContainEqual(at < 2 ? statuses : statuses.toReversed());
  }
});
