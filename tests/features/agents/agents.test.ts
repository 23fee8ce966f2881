import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, agentTools, auditLogs, workspaces } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";

type Headers = Record<string, string>;
type Fields = Record<string, unknown>;

async function read(response: Promise<Response> | Response): Promise<{ status: number; body: Fields; text: string }> {
  const answer = await response;
  const text = await answer.text();
  return { status: answer.status, body: JSON.parse(text) as Fields, text };
}

const create = (h: Harness, headers: Headers, json: unknown) =>
  read(h.request("/api/instances", { method: "POST", headers, json }));
const patch = (h: Harness, headers: Headers, slug: string, json: unknown) =>
  read(h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json }));
const get = (h: Harness, headers: Headers, slug: string) => read(h.request(`/api/instances/${slug}`, { headers }));
const instance = (answer: { body: Fields }) => answer.body.instance as Fields;

describe("creating and reading", () => {
  it("gives every field of a new agent its default", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const made = await create(h, owner, { slug: "support" });
    expect(made.status).toBe(201);
    const { id, createdAt, updatedAt, ...rest } = instance(made);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(createdAt).toBe(updatedAt);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(rest).toEqual({
      slug: "support",
      name: "support",
      description: "",
      workspaceId: h.organization.workspaceId,
      status: "active",
      active: true,
      provider: null,
      model: null,
      fastModel: null,
      authEnabled: true,
      webEnabled: false,
      failingChannels: [],
      providerProblem: null,
      tracingEnabled: false,
      tracingProject: null,
      memoryEnabled: true,
      knowledgeEnabled: false,
      thinkingEnabled: false,
      temperature: null,
      maxOutputTokens: null,
      maxSteps: 16,
      historyLimit: 100,
      stateInPromptEnabled: true,
      toolResultsInHistoryEnabled: true,
      debugEnabled: false,
      attachmentsEnabled: false,
      streamUsageEnabled: false,
      debounceMs: null,
      typingDelayMs: null,
      maxRestarts: null,
      timezone: "UTC",
      monthlyTokenBudget: null,
      monthlyCostBudget: null,
      userMonthlyCostBudget: null,
      userMonthlyTokenBudget: null,
      revision: 1,
      optoutEnabled: false,
      optoutStopKeywords: ["STOP"],
      optoutResumeKeywords: ["START"],
      optoutClosingMessage: null,
      optoutResumeMessage: null,
      icon: null,
    });
    expect(instance(await get(h, owner, "support"))).toEqual(instance(made));
    const tools = await h.services.database.db
      .select()
      .from(agentTools)
      .where(eq(agentTools.agentId, String(id)));
    expect(tools).toMatchObject([{ name: "readSkill", source: "manual" }]);
  });

  it("stores and answers every field that can be set", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "full" });
    const fields = {
      name: "Füll ☃",
      description: "two\nlines",
      active: false,
      provider: "ollama",
      model: "mistral:7b",
      fastModel: "openai:gpt-5-nano",
      authEnabled: false,
      tracingEnabled: true,
      tracingProject: "Project X",
      memoryEnabled: false,
      knowledgeEnabled: true,
      thinkingEnabled: true,
      temperature: 0.25,
      maxOutputTokens: 4096,
      maxSteps: 1,
      historyLimit: 0,
      stateInPromptEnabled: false,
      toolResultsInHistoryEnabled: false,
      debugEnabled: true,
      attachmentsEnabled: true,
      streamUsageEnabled: true,
      debounceMs: 0,
      typingDelayMs: 60_000,
      maxRestarts: 0,
      timezone: "Europe/Rome",
      monthlyTokenBudget: 9_000_000_000,
      optoutEnabled: true,
      optoutStopKeywords: ["STOP", 'a "quoted" one', "a,b", "{x}", "NULL", "ünï ☃"],
      optoutResumeKeywords: [],
      optoutClosingMessage: "Bye",
      optoutResumeMessage: "",
    };
    const changed = await patch(h, owner, "full", fields);
    expect(changed.status).toBe(200);
    expect(instance(changed)).toMatchObject({ ...fields, status: "inactive", revision: 2 });
    const cleared = await patch(h, owner, "full", { provider: null, model: null, temperature: null, status: "active" });
    expect(instance(cleared)).toMatchObject({
      provider: null,
      model: null,
      temperature: null,
      active: true,
      revision: 3,
    });
    expect(instance(cleared)).toMatchObject({ fastModel: "openai:gpt-5-nano", timezone: "Europe/Rome" });
  });

  it("splits provider:model, also over a stored provider", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const made = await create(h, owner, { slug: "split", model: "openai-compatible:qwen3:8b" });
    expect(instance(made)).toMatchObject({ provider: "openai-compatible", model: "qwen3:8b" });
    expect(instance(await patch(h, owner, "split", { model: "demo:demo" }))).toMatchObject({
      provider: "demo",
      model: "demo",
    });
    expect(instance(await patch(h, owner, "split", { model: "other" }))).toMatchObject({
      provider: "demo",
      model: "other",
    });
  });

  it("lists by name, whether active or not", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "one", name: "beta" });
    await create(h, owner, { slug: "two", name: "Alpha" });
    await create(h, owner, { slug: "three", name: "gamma", active: false });
    const list = await read(h.request("/api/instances", { headers: owner }));
    expect((list.body.instances as Fields[]).map(({ slug }) => slug)).toEqual(["two", "one", "three"]);
  });

  it("ignores what is not a field that can be set", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "kept" });
    const before = instance(await get(h, owner, "kept"));
    const body = JSON.parse(
      '{"id":"x","slug":"other","icon":"x","webEnabled":true,"revision":99,"createdAt":"x","updatedAt":"x","organizationId":"x","authKeyHmac":"x","__proto__":{"name":"polluted"},"constructor":1}',
    );
    const after = instance(await patch(h, owner, "kept", body));
    expect(after).toEqual({ ...before, revision: 2, updatedAt: after.updatedAt });
  });

  it("refuses a taken slug, wherever it is taken", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const other = await h.as("owner", { organization: await h.createOrganization("globex") });
    await create(h, owner, { slug: "mine" });
    for (const headers of [owner, other]) {
      const again = await create(h, headers, { slug: "mine" });
      expect(again).toMatchObject({ status: 409, body: { message: "The slug mine is taken", error: "Conflict" } });
    }
    const race = await Promise.all(Array.from({ length: 5 }, () => create(h, owner, { slug: "race" })));
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it("deletes an agent with all that is its own", async () => {
    const h = await harness();
    const { slug, headers } = await h.agent();
    const gone = await read(h.request(`/api/instances/${slug}`, { method: "DELETE", headers }));
    expect(gone).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await get(h, headers, slug)).status).toBe(404);
    expect((await read(h.request(`/api/instances/${slug}`, { method: "DELETE", headers }))).status).toBe(404);
    expect(await h.services.database.db.select().from(agents)).toEqual([]);
    expect((await create(h, headers, { slug })).status).toBe(201);
  });

  it("writes an audit entry for each change", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const { id } = instance(await create(h, owner, { slug: "watched" }));
    await patch(h, owner, "watched", { name: "W", temperature: 1 });
    await h.request("/api/instances/watched", { method: "DELETE", headers: owner });
    const entries = await h.services.database.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.agentId, String(id)));
    const actions = entries.map(({ action, target, summary }) => [action, target, summary]);
    expect(actions).toEqual([
      ["agent.create", "watched", {}],
      [
        "agent.update",
        "watched",
        { changes: { name: { from: "watched", to: "W" }, temperature: { from: null, to: 1 } } },
      ],
      ["agent.delete", "watched", {}],
    ]);
  });

  it("answers the models to choose from", async () => {
    const h = await harness({ environmentKeys: { openai_api_key: "sk-environment-secret" } });
    const answer = await read(h.request("/api/instances/models", { headers: await h.as("viewer") }));
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ providers: { openai: { configured: true }, demo: { configured: true } } });
    expect(answer.text).not.toContain("sk-environment");
  });
});

describe("revisions", () => {
  it("refuses a change that is based on an older revision", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "guarded" });
    const change = (ifMatch: string, name: string) => patch(h, { ...owner, "If-Match": ifMatch }, "guarded", { name });
    expect(await change('"1"', "first")).toMatchObject({ status: 200, body: { instance: { revision: 2 } } });
    expect(await change('"1"', "second")).toMatchObject({
      status: 412,
      body: { message: "The agent is at revision 2: read it again", error: "Precondition Failed" },
    });
    expect(await change('"9999999999"', "second")).toMatchObject({ status: 412 });
    expect(await change("2", "second")).toMatchObject({ status: 400 });
    expect(await change("*", "third")).toMatchObject({
      status: 200,
      body: { instance: { name: "third", revision: 3 } },
    });
    const answer = await h.request("/api/instances/guarded", { headers: owner });
    expect(answer.headers.get("ETag")).toBe('"3"');
  });

  it("lets exactly one of many concurrent changes win", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "contended" });
    const attempts = Array.from({ length: 8 }, (_, index) =>
      patch(h, { ...owner, "If-Match": '"1"' }, "contended", { name: `writer ${index}` }),
    );
    const answers = await Promise.all(attempts);
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(7);
    const now = instance(await get(h, owner, "contended"));
    expect(now).toMatchObject({ revision: 2, name: won[0] && instance(won[0]).name });
  });

  it("loses no change of concurrent ones that name no revision", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await create(h, owner, { slug: "busy" });
    const changes = [{ name: "N" }, { temperature: 1 }, { maxSteps: 3 }, { timezone: "Europe/Rome" }];
    await Promise.all(changes.map((json) => patch(h, owner, "busy", json)));
    expect(instance(await get(h, owner, "busy"))).toMatchObject({
      name: "N",
      temperature: 1,
      maxSteps: 3,
      timezone: "Europe/Rome",
      revision: 5,
    });
  });
});

describe("permissions", () => {
  it("answers for another organization's agent as for a missing one, byte for byte", async () => {
    const h = await harness();
    await create(h, await h.as("owner"), { slug: "theirs" });
    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    const requests: [string, RequestInit & { json?: unknown }][] = [
      ["", { method: "GET" }],
      ["", { method: "PATCH", json: { name: "x" } }],
      ["", { method: "DELETE" }],
      ["/icon", { method: "GET" }],
      ["/icon", { method: "PUT", json: { icon: `data:image/jpeg;base64,${btoa("\xff\xd8\xff\xe0")}` } }],
      ["/icon", { method: "DELETE" }],
    ];
    for (const [suffix, init] of requests) {
      const foreign = await read(h.request(`/api/instances/theirs${suffix}`, { ...init, headers: stranger }));
      const missing = await read(h.request(`/api/instances/nobody${suffix}`, { ...init, headers: stranger }));
      expect(foreign.status).toBe(404);
      expect(foreign.body.message).toBe("Agent not found");
      expect(foreign.text).toBe(missing.text);
    }
    const list = await read(h.request("/api/instances", { headers: stranger }));
    expect(list.body).toEqual({ instances: [] });
  });

  it("keeps members to their workspaces", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const member = await h.as("member");
    const apart = newId();
    await h.services.database.db
      .insert(workspaces)
      .values({ id: apart, organizationId: h.organization.id, name: "apart" });
    await create(h, owner, { slug: "near" });
    expect((await create(h, owner, { slug: "far", workspaceId: apart })).status).toBe(201);

    expect((await get(h, member, "near")).status).toBe(200);
    const out = await get(h, member, "far");
    expect(out).toMatchObject({ status: 404, text: (await get(h, member, "none")).text });
    const list = await read(h.request("/api/instances", { headers: member }));
    expect((list.body.instances as Fields[]).map(({ slug }) => slug)).toEqual(["near"]);

    const lost = { status: 404, body: { message: "Workspace not found" } };
    expect(await patch(h, member, "near", { workspaceId: apart })).toMatchObject(lost);
    expect(await create(h, member, { slug: "new", workspaceId: apart })).toMatchObject(lost);
    expect(await create(h, member, { slug: "new", workspaceId: newId() })).toMatchObject(lost);
    expect(await patch(h, owner, "near", { workspaceId: apart })).toMatchObject({ status: 200 });
    expect((await get(h, member, "near")).status).toBe(404);
  });

  it("takes no workspace of another organization", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const { workspaceId } = await h.createOrganization("globex");
    expect(await create(h, owner, { slug: "x", workspaceId })).toMatchObject({ status: 404 });
    await create(h, owner, { slug: "y" });
    expect(await patch(h, owner, "y", { workspaceId })).toMatchObject({ status: 404 });
  });

  it("says so when a member reaches no workspace", async () => {
    const h = await harness();
    const member = await h.as("member", { reach: false });
    expect(await create(h, member, { slug: "x" })).toMatchObject({ status: 403 });
    expect(await read(h.request("/api/instances", { headers: member }))).toMatchObject({ body: { instances: [] } });
  });

  it("asks for the permission of each route", async () => {
    const h = await harness();
    await create(h, await h.as("owner"), { slug: "shared" });
    const viewer = await h.as("viewer");
    const member = await h.as("member");
    const forbidden = (permission: string) => ({ status: 403, body: { message: `Missing permission: ${permission}` } });
    const remove = (headers: Headers) => read(h.request("/api/instances/shared", { method: "DELETE", headers }));

    expect(await create(h, viewer, { slug: "x" })).toMatchObject(forbidden("agent:write"));
    expect(await patch(h, viewer, "shared", { name: 5 })).toMatchObject(forbidden("agent:write"));
    expect(await remove(viewer)).toMatchObject(forbidden("agent:delete"));
    expect(await remove(member)).toMatchObject(forbidden("agent:delete"));
    expect((await get(h, viewer, "shared")).status).toBe(200);
    expect((await patch(h, member, "shared", { name: "M" })).status).toBe(200);
    expect((await remove(await h.as("admin"))).status).toBe(200);
  });

  it("answers 401 without a credential", async () => {
    const h = await harness();
    expect((await read(h.request("/api/instances"))).status).toBe(401);
    expect((await create(h, {}, { slug: "x" })).status).toBe(401);
  });
});
