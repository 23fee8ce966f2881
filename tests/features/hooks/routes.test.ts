import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { RoleKey } from "../../../src/core/credentials/permissions.ts";
import { agents, auditLogs, hooks, plugins } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

type Json = Record<string, unknown>;
type Headers = Record<string, string>;

const url = (slug: string, id?: string) => `/api/instances/${slug}/hooks${id === undefined ? "" : `/${id}`}`;

async function withAgents(...slugs: string[]) {
  const h = await harness();
  const headers = await h.as("owner");
  for (const slug of slugs) await h.request("/api/instances", { method: "POST", headers, json: { slug } });
  const { db } = h.services.database;
  const call = (method: string, path: string, json?: unknown, as: Headers = headers) =>
    h.request(path, { method, headers: as, ...(json === undefined ? {} : { json }) });
  const create = async (json: Json, slug = "one") => {
    const response = await call("POST", url(slug), json);
    expect(response.status).toBe(201);
    return ((await response.json()) as { hook: Json & { id: string } }).hook;
  };
  const list = async (slug = "one") => {
    const response = await call("GET", url(slug));
    expect(response.status).toBe(200);
    return ((await response.json()) as { hooks: Json[] }).hooks;
  };
  const revision = async (slug = "one") => {
    const [row] = await db.select({ revision: agents.revision }).from(agents).where(eq(agents.slug, slug));
    return row?.revision ?? 0;
  };
  return { ...h, db, headers, call, create, list, revision };
}

const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message;

const time = { toolName: "currentTime", args: {} };
const seen = { event: "message_received", actionConfig: time };

describe("creating", () => {
  test("takes what is given and fills in the rest", async () => {
    const h = await withAgents("one");
    expect(await h.list()).toEqual([]);
    const least = await h.create({ event: "message_received", actionConfig: { toolName: "currentTime" } });
    expect(least).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event: "message_received",
      actionType: "tool",
      actionConfig: time,
      mutates: false,
      enabled: true,
      position: 0,
      timeoutMs: 10_000,
    });
    const all = {
      event: "response_generated",
      actionType: "tool",
      mutates: true,
      enabled: false,
      position: 7,
      timeoutMs: 30_000,
      actionConfig: {
        toolName: "httpRequest",
        args: { url: "https://a.example/{{instance.slug}}", body: { text: "{{response.text}}", n: [1, null] } },
      },
    };
    const whole = await h.create(all);
    expect(whole).toEqual({ id: expect.any(String), ...all });
    expect(await h.list()).toEqual([least, whole]);
  });

  test("goes behind the others, and the list is in the order of running", async () => {
    const h = await withAgents("one", "two");
    const at = async (position?: number) => h.create({ ...seen, ...(position === undefined ? {} : { position }) });
    const [a, b, c, d] = [await at(), await at(), await at(9_999), await at()];
    const e = await at(0);
    expect([a, b, c, d, e].map(({ position }) => position)).toEqual([0, 1, 9_999, 9_999, 0]);
    expect((await h.list()).map(({ id }) => id)).toEqual([a, e, b, c, d].map(({ id }) => id));
    expect(await h.list("two")).toEqual([]);
  });

  test("stops at 32 hooks of an agent", async () => {
    const h = await withAgents("one", "two");
    for (let made = 0; made < 32; made += 1) await h.create(seen);
    const refused = await h.call("POST", url("one"), seen);
    expect(refused.status).toBe(400);
    expect(await messageOf(refused)).toBe("An agent has at most 32 hooks: delete one first");
    expect(await h.list()).toHaveLength(32);
    await h.create(seen, "two");
    await h.call("DELETE", url("one", String((await h.list())[0]?.id)));
    await h.create(seen);
  });

  test("is refused with the reason", async () => {
    const h = await withAgents("one", "two");
    const wrong: [string, Json, RegExp][] = [
      ["no event", { actionConfig: time }, /^event: must be one of: conversation_start, message_received/],
      ["another event", { ...seen, event: "message" }, /^event: must be one of/],
      ["another action", { ...seen, actionType: "webhook" }, /^actionType: must be tool$/],
      ["no action", { event: "message_received" }, /^actionConfig: /],
      ["no tool", { ...seen, actionConfig: { args: {} } }, /^actionConfig.toolName: /],
      ["a list of arguments", { ...seen, actionConfig: { ...time, args: [] } }, /^actionConfig.args: /],
      ["arguments as text", { ...seen, actionConfig: { ...time, args: "{}" } }, /^actionConfig.args: /],
      ["too little time", { ...seen, timeoutMs: 999 }, /^timeoutMs: must be at least 1000$/],
      ["too much time", { ...seen, timeoutMs: 30_001 }, /^timeoutMs: must be at most 30000$/],
      ["half a millisecond", { ...seen, timeoutMs: 1000.5 }, /^timeoutMs: must be a whole number/],
      ["a place before the first", { ...seen, position: -1 }, /^position: must be at least 0$/],
      ["a place too far back", { ...seen, position: 10_000 }, /^position: must be at most 9999$/],
      ["yes for true", { ...seen, enabled: "yes" }, /^enabled: /],
      ["replacing too early", { ...seen, mutates: true }, /^mutates: only a hook on response_generated can replace/],
      ["replacing too late", { ...seen, event: "response_sent", mutates: true }, /^mutates: only a hook on/],
      [
        "an unknown placeholder",
        { ...seen, actionConfig: { ...time, args: { timezone: "{{message.txt}}" } } },
        /^actionConfig.args: knows no \{\{message.txt\}\}; there are .*\{\{message.text\}\}.*\{\{state.KEY\}\}$/,
      ],
      [
        "an unknown tool",
        { ...seen, actionConfig: { toolName: "nope" } },
        /^actionConfig.toolName: there is no tool nope$/,
      ],
      ["a tool of no plugin", { ...seen, actionConfig: { toolName: "crm:find" } }, /there is no tool crm:find$/],
      ["an old name", { ...seen, actionConfig: { toolName: "ghIssue" } }, /there is no tool ghIssue$/],
      [
        "an agent",
        { ...seen, actionConfig: { toolName: "agent:two" } },
        /^actionConfig.toolName: a hook can't ask an agent$/,
      ],
    ];
    for (const [what, json, message] of wrong) {
      const response = await h.call("POST", url("one"), json);
      expect([what, response.status]).toEqual([what, 400]);
      expect(await messageOf(response), what).toMatch(message);
    }
    expect(await h.list()).toEqual([]);
  });
});

describe("changing", () => {
  test("keeps what is not given", async () => {
    const h = await withAgents("one");
    const hook = await h.create({ ...seen, position: 3 });
    const patch = async (json: Json) => (await h.call("PATCH", url("one", hook.id), json)).json();
    expect(await patch({})).toEqual({ hook });
    expect(await patch({ enabled: false, timeoutMs: 1_000 })).toEqual({
      hook: { ...hook, enabled: false, timeoutMs: 1_000 },
    });
    const action = { toolName: "getState", args: { key: "{{state.which}}" } };
    const changed = { ...hook, enabled: false, timeoutMs: 1_000, event: "response_sent", position: 0 };
    expect(await patch({ event: "response_sent", position: 0, actionConfig: action })).toEqual({
      hook: { ...changed, actionConfig: action },
    });
    expect(await patch({ actionConfig: { toolName: "getState" }, id: "x", agentId: "y" })).toEqual({
      hook: { ...changed, actionConfig: { toolName: "getState", args: {} } },
    });
    expect(await h.list()).toHaveLength(1);
  });

  test("checks event and mutates together, even when only one is given", async () => {
    const h = await withAgents("one");
    const { id } = await h.create({ ...seen, event: "response_generated", mutates: true });
    const status = async (json: Json) => (await h.call("PATCH", url("one", id), json)).status;
    expect(await status({ event: "response_sent" })).toBe(400);
    expect(await status({ event: "response_sent", mutates: false })).toBe(200);
    expect(await status({ mutates: true })).toBe(400);
    expect(await status({ mutates: true, event: "response_generated" })).toBe(200);
    expect(await h.list()).toMatchObject([{ event: "response_generated", mutates: true }]);
  });

  test("a hook whose tool is missing can still be changed, but not get another missing one", async () => {
    const h = await withAgents("one");
    const tool = { name: "find", description: "", inputSchema: { type: "object" } };
    const { id: organizationId } = h.organization;
    const sealed = { keyId: "k", config: new Uint8Array([1]) };
    const row = { organizationId, namespace: "crm", kind: "mcp", tools: [tool], status: "connected", ...sealed };
    await h.db.insert(plugins).values(row);
    const { id } = await h.create({ ...seen, actionConfig: { toolName: "crm:find", args: {} } });
    expect((await h.call("POST", url("one"), { ...seen, actionConfig: { toolName: "crm:nope" } })).status).toBe(400);
    await h.db.delete(plugins);

    const status = async (json: Json) => (await h.call("PATCH", url("one", id), json)).status;
    expect(await status({ enabled: false })).toBe(200);
    expect(await status({ actionConfig: { toolName: "crm:find", args: { a: 1 } } })).toBe(200);
    expect(await status({ actionConfig: { toolName: "crm:other", args: {} } })).toBe(400);
    expect(await h.list()).toMatchObject([{ enabled: false, actionConfig: { toolName: "crm:find", args: { a: 1 } } }]);
  });
});

test("a hook that is not there, or another agent's, can be neither changed nor deleted", async () => {
  const h = await withAgents("one", "two");
  const hook = await h.create(seen);
  const unknown = "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d";
  for (const path of [url("two", hook.id), url("one", unknown), url("one", "nonsense"), url("none", hook.id)]) {
    for (const method of ["PATCH", "DELETE"]) {
      const response = await h.call(method, path, method === "PATCH" ? { enabled: false } : undefined);
      expect([path, method, response.status]).toEqual([path, method, 404]);
    }
  }
  expect(await h.list()).toEqual([hook]);
  const gone = await h.call("DELETE", url("one", hook.id));
  expect([gone.status, await gone.json()]).toEqual([200, { deleted: true }]);
  expect((await h.call("DELETE", url("one", hook.id))).status).toBe(404);
  expect(await h.list()).toEqual([]);
});

test("every role may read hooks; Owners and Admins may write them", async () => {
  const h = await withAgents("one");
  const hook = await h.create(seen);
  const rights: [RoleKey, boolean][] = [
    ["owner", true],
    ["admin", true],
    ["member", false],
    ["viewer", false],
  ];
  for (const [role, writes] of rights) {
    const as = await h.as(role);
    expect((await h.call("GET", url("one"), undefined, as)).status).toBe(200);
    for (const [method, path, json, good] of [
      ["POST", url("one"), seen, 201],
      ["PATCH", url("one", hook.id), { timeoutMs: 2_000 }, 200],
      ["DELETE", url("one", (await h.create(seen)).id), undefined, 200],
    ] as const) {
      const response = await h.call(method, path, json, as);
      expect([role, method, response.status]).toEqual([role, method, writes ? good : 403]);
      if (!writes) expect(await messageOf(response)).toBe("Missing permission: agent.governance:write");
    }
  }
});

test("each change bumps the agent's revision, and the audit log never holds arguments", async () => {
  const h = await withAgents("one");
  const before = await h.revision();
  const args = { url: "https://a.example", headers: { Authorization: "private words" } };
  const { id } = await h.create({ ...seen, actionConfig: { toolName: "httpRequest", args } });
  expect(await h.revision()).toBe(before + 1);
  await h.call("PATCH", url("one", id), { enabled: false, actionConfig: { toolName: "getState", args: {} } });
  expect(await h.revision()).toBe(before + 2);
  await h.call("PATCH", url("one", id), { mutates: true });
  expect(await h.revision()).toBe(before + 2);
  await h.call("DELETE", url("one", id));
  expect(await h.revision()).toBe(before + 3);

  const entries = await h.db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id);
  const ours = entries.filter(({ action }) => action.startsWith("agent.hook."));
  const changes = { enabled: { from: true, to: false }, toolName: { from: "httpRequest", to: "getState" } };
  const updated = { hookId: id, changes, argsReplaced: true };
  expect(ours.map(({ action, target, summary }) => [action, target, summary])).toEqual([
    ["agent.hook.create", "one", { hookId: id, event: "message_received", toolName: "httpRequest" }],
    ["agent.hook.update", "one", updated],
    ["agent.hook.delete", "one", { hookId: id }],
  ]);
  expect(JSON.stringify(entries)).not.toContain("private words");
});

test("hooks go with their agent, and know who wrote them", async () => {
  const h = await withAgents("one", "two");
  await h.create(seen);
  const { id } = await h.create(seen, "two");
  const rows = await h.db.select().from(hooks);
  expect(rows.every(({ createdBy, updatedBy }) => createdBy !== null && createdBy === updatedBy)).toBe(true);
  await h.call("DELETE", "/api/instances/one");
  expect((await h.db.select().from(hooks)).map((row) => row.id)).toEqual([id]);
});
