import { describe, expect, test } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens, members } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { writeEntries } from "./entries.ts";

type Headers = Record<string, string>;

interface Page {
  items: Record<string, unknown>[];
  total: number;
  limit: number;
  offset: number;
}

async function read(h: Harness, headers: Headers, query: Record<string, string> = {}): Promise<Page> {
  const response = await h.request(`/api/audit-logs?${new URLSearchParams(query)}`, { headers });
  expect(response.status, JSON.stringify(query)).toBe(200);
  return response.json();
}

describe("an entry", () => {
  test("says who changed what, and from which address", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const { user } = await (await h.request("/api/me", { headers: owner })).json();
    await h.request("/api/instances", { method: "POST", headers: owner, json: { slug: "support" } });
    await h.request("/api/instances/support", { method: "PATCH", headers: owner, json: { name: "Help" } });
    const { items, ...rest } = await read(h, owner);
    expect(rest).toEqual({ total: 2, limit: 50, offset: 0 });
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        actor: { type: "user", id: user.id, name: "owner" },
        action: "agent.update",
        target: "support",
        instanceId: "support",
        success: true,
        details: { changes: { name: { from: "support", to: "Help" } } },
        ip: "192.0.2.1",
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
      expect.objectContaining({ action: "agent.create", target: "support", details: {} }),
    ]);
  });

  test("may lack actor, target, agent and address", async () => {
    const h = await harness();
    await writeEntries(h, [{ actorType: "system", ip: "", success: false }]);
    expect((await read(h, await h.as("admin"))).items).toMatchObject([
      { actor: { type: "system", id: null, name: null }, target: null, instanceId: null, success: false, ip: null },
    ]);
  });
});

test("pages are newest first, and stable where many happened at once", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const at = "2025-06-01T12:00:00Z";
  await writeEntries(h, [
    ...Array.from({ length: 120 }, (_, index) => ({ target: `same-${index}`, at })),
    { target: "newest", at: "2025-06-02T00:00:00Z" },
    { target: "oldest", at: "2025-05-01T00:00:00Z" },
  ]);
  const pages = [];
  for (let offset = 0; offset < 130; offset += 40) {
    const page = await read(h, owner, { limit: "40", offset: String(offset) });
    expect(page).toMatchObject({ total: 122, limit: 40, offset });
    pages.push(...page.items);
  }
  const targets = pages.map(({ target }) => target);
  expect([targets[0], targets.at(-1)]).toEqual(["newest", "oldest"]);
  expect(new Set(targets).size).toBe(122);
  const ids = pages.slice(1, -1).map(({ id }) => String(id));
  expect(ids).toEqual(ids.toSorted().reverse());
  expect((await read(h, owner, { limit: "200" })).items).toHaveLength(122);
  expect((await read(h, owner)).items).toHaveLength(50);
  expect(await read(h, owner, { offset: "10000" })).toMatchObject({ items: [], total: 122 });
});

test("the total says 10,001 for any number above 10,000, on every page", async () => {
  const h = await harness();
  const owner = await h.as("owner");
  const fill = (from: number, to: number) =>
    h.services.database.query(
      `insert into audit_logs (id, organization_id, actor_type, action, target, created_at)
       select gen_random_uuid(), $1::uuid, 'user', 'agent.update', n::text, '2025-06-01'::timestamptz + n * interval '1 s'
       from generate_series($2::int, $3::int) n`,
      [h.organization.id, from, to],
    );
  // Unlike the Owner, the Admin does not see the entries of no organization.
  const admin = await h.as("admin");
  const total = async (query: Record<string, string> = {}) => {
    const [all, own] = await Promise.all([owner, admin].map((headers) => read(h, headers, query)));
    expect(own?.total).toBe(all?.total);
    return all?.total;
  };
  await fill(1, 10_000);
  expect([await total(), await total({ offset: "9999" }), await total({ offset: "10000" })]).toEqual(
    Array(3).fill(10_000),
  );
  await fill(10_001, 10_300);
  expect([await total(), await total({ offset: "10000" })]).toEqual([10_001, 10_001]);
  expect(await total({ offset: "9900", limit: "200" })).toBe(10_001);
  const last = await read(h, owner, { offset: "10000", limit: "200" });
  expect(last.items.map(({ target }) => target).slice(0, 2)).toEqual(["300", "299"]);
});

describe("filters", () => {
  const [ada, agentId] = [newId(), newId()];

  async function filled() {
    const h = await harness();
    await writeEntries(h, [
      {
        target: "support",
        agentId,
        action: "agent.update",
        actorId: ada,
        actorName: "Ada",
        at: "2025-12-01T00:00:00Z",
      },
      { target: "support", action: "workspace.create", actorName: "Eve", at: "2025-12-01T23:59:59.999Z" },
      {
        target: "other",
        agentId,
        action: "agent.create",
        actorType: "key",
        actorName: "CI",
        at: "2025-12-02T00:00:00Z",
      },
      { target: "100%_a\\b", action: "agents.count", actorType: "system", at: "2025-12-03T00:00:00Z" },
      { target: "100xya", action: "agent", actorType: "system", actorName: "user", at: "2025-12-04T00:00:00Z" },
    ]);
    const admin = await h.as("admin");
    return async (query: Record<string, string>) => {
      const { items, total } = await read(h, admin, query);
      expect(total).toBe(items.length);
      return items.map(({ action }) => action).reverse();
    };
  }

  test("by agent, actor and action", async () => {
    const find = await filled();
    expect(await find({ instanceId: "support" })).toEqual(["agent.update"]);
    expect(await find({ instanceId: "other" })).toEqual(["agent.create"]);
    expect(await find({ instanceId: "No Slug" })).toEqual([]);
    expect(await find({ actor: ada })).toEqual(["agent.update"]);
    expect(await find({ actor: ada.toUpperCase() })).toEqual(["agent.update"]);
    expect(await find({ actor: "Ada" })).toEqual(["agent.update"]);
    expect(await find({ actor: "Ad" })).toEqual([]);
    expect(await find({ actor: "key" })).toEqual(["agent.create"]);
    expect(await find({ actor: "user" })).toEqual(["agent.update", "workspace.create", "agent"]);
    expect(await find({ action: "agent.update" })).toEqual(["agent.update"]);
    expect(await find({ action: "agent" })).toEqual(["agent"]);
    expect(await find({ action: "agent." })).toEqual(["agent.update", "agent.create"]);
    expect(await find({ action: "agent.*" })).toEqual(["agent.update", "agent.create"]);
    expect(await find({ action: "agent*" })).toEqual(["agent.update", "agent.create", "agents.count", "agent"]);
    expect(await find({ action: "%" })).toEqual([]);
    expect(await find({ action: "_*" })).toEqual([]);
    expect(await find({ action: "agent.", actor: "CI", search: "oth" })).toEqual(["agent.create"]);
    expect(await find({ action: "", actor: "", search: "", instanceId: "" })).toHaveLength(5);
  });

  test("by text, whose wildcards are ordinary characters", async () => {
    const find = await filled();
    expect(await find({ search: "SUPP" })).toEqual(["agent.update", "workspace.create"]);
    expect(await find({ search: "aDA" })).toEqual(["agent.update"]);
    expect(await find({ search: "space.CR" })).toEqual(["workspace.create"]);
    expect(await find({ search: "100%_a" })).toEqual(["agents.count"]);
    expect(await find({ search: "%" })).toEqual(["agents.count"]);
    expect(await find({ search: "_" })).toEqual(["agents.count"]);
    expect(await find({ search: "\\" })).toEqual(["agents.count"]);
    expect(await find({ search: "' or 1=1 --" })).toEqual([]);
    expect(await find({ search: "x".repeat(256) })).toEqual([]);
  });

  test("by time, from inclusive and to exclusive", async () => {
    const find = await filled();
    expect(await find({ from: "2025-12-02" })).toEqual(["agent.create", "agents.count", "agent"]);
    expect(await find({ to: "2025-12-02" })).toEqual(["agent.update", "workspace.create"]);
    expect(await find({ from: "2025-12-02T00:00:00Z", to: "2025-12-02T00:00:00.001Z" })).toEqual(["agent.create"]);
    expect(await find({ from: "2025-12-02T02:00:00+02:00", to: "2025-12-03T00:00:00-00:00" })).toEqual([
      "agent.create",
    ]);
    expect(await find({ from: "2025-12-02", to: "2025-12-02" })).toEqual([]);
    expect(await find({ from: "1900-01-01", to: "9999-12-31" })).toHaveLength(5);
  });

  test("that look into every entry do so for 90 days, unless from says otherwise", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await writeEntries(h, [
      { target: "tea", actorName: "Ada", at: "2025-10-02T23:59:59.999Z" },
      { target: "tea", actorName: "Ada", at: "2025-10-03T00:00:00Z" },
      { target: "tea", actorName: "Ada", at: "2025-12-31T00:00:00Z" },
    ]);
    const count = async (query: Record<string, string>) => (await read(h, owner, query)).items.length;
    for (const filter of [{ search: "tea" }, { actor: "Ada" }]) {
      expect(await count(filter)).toBe(2);
      expect(await count({ ...filter, to: "2025-12-30" })).toBe(2);
      expect(await count({ ...filter, to: "9999-12-31" })).toBe(2);
      expect(await count({ ...filter, from: "2025-01-01" })).toBe(3);
    }
    expect(await count({})).toBe(3);
    expect(await count({ search: "", actor: "", action: "agent." })).toBe(3);
  });
});

test.each<[string, string]>([
  ["limit=0", "limit"],
  ["limit=201", "limit"],
  ["limit=1000000000", "limit"],
  ["limit=x", "limit"],
  ["limit=", "limit"],
  ["limit=1e2", "limit"],
  ["limit=-1", "limit"],
  ["limit=1&limit=2", "limit"],
  ["offset=-1", "offset"],
  ["offset=10001", "offset"],
  ["offset=2147483648", "offset"],
  ["offset=99999999999999999999", "offset"],
  ["from=yesterday", "from"],
  ["from=", "from"],
  ["from=2025-02-30", "from"],
  ["from=2025-13-01", "from"],
  ["from=2025-01-01T00:00:00", "from"],
  ["from=2025-01-01T25:00:00Z", "from"],
  ["from=0000-01-01", "from"],
  ["from=0001-01-01T00:00:00%2B14:00", "from"],
  ["to=9999-12-31T23:59:59-14:00", "to"],
  ["to=%2B275760-09-13", "to"],
  ["to=infinity", "to"],
  ["from=2025-01-02&to=2025-01-01", "from"],
  ["search=a%00b", "search"],
  [`search=${"x".repeat(10_000)}`, "search"],
  [`actor=${"x".repeat(10_000)}`, "actor"],
  ["actor=%00", "actor"],
  ["action=%00", "action"],
  ["instanceId=%00", "instanceId"],
])("%s is a 400", async (query, field) => {
  const h = await harness();
  const response = await h.request(`/api/audit-logs?${query}`, { headers: await h.as("owner") });
  expect(response.status).toBe(400);
  expect((await response.json()).issues).toMatchObject([{ path: field, message: expect.stringMatching(/\S/) }]);
});

test("a caller that skips too many entries is told to narrow the period", async () => {
  const h = await harness();
  const response = await h.request("/api/audit-logs?offset=10001", { headers: await h.as("owner") });
  expect((await response.json()).message).toBe("offset: must be at most 10000: narrow the period with from and to");
});

describe("permissions", () => {
  test("only those with the permission see any", async () => {
    const h = await harness();
    for (const path of ["/api/audit-logs", "/api/audit-logs/stats"]) {
      expect((await h.request(path)).status).toBe(401);
      for (const role of ["member", "viewer"] as const) {
        const response = await h.request(path, { headers: await h.as(role) });
        expect(response.status).toBe(403);
        expect((await response.json()).message).toBe("Missing permission: audit_log:read");
      }
    }
  });

  test("each organization sees its own; what belongs to none, the first one's Owner", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    await writeEntries(h, [
      { target: "ours" },
      { target: "theirs", organizationId: other.id },
      { target: "nobody's", organizationId: null, action: "session.create", success: false },
    ]);
    const key = async (organizationId: string) => {
      const { token, digest } = await newToken("management");
      const row = { id: newId(), kind: "management" as const, digest, organizationId };
      await h.services.database.db.insert(accessTokens).values(row);
      return { Authorization: `Bearer ${token}` };
    };
    const seen = async (headers: Headers) => {
      const { items, total } = await read(h, headers);
      const { total: counted } = await (
        await h.request("/api/audit-logs/stats?from=2025-05-15&to=2025-07-01", { headers })
      ).json();
      expect([total, counted]).toEqual([items.length, items.length]);
      return items.map(({ target }) => target).sort();
    };
    expect(await seen(await h.as("owner"))).toEqual(["nobody's", "ours"]);
    expect(await seen(await key(h.organization.id))).toEqual(["nobody's", "ours"]);
    expect(await seen(await h.as("admin"))).toEqual(["ours"]);
    expect(await seen(await h.as("owner", { organization: other }))).toEqual(["theirs"]);
    expect(await seen(await key(other.id))).toEqual(["theirs"]);
    const foreign = { ...(await h.as("owner")), "X-Organization": "other" };
    expect((await h.request("/api/audit-logs", { headers: foreign })).status).toBe(404);
  });

  test("an Owner of both sees what belongs to none only while the first one is addressed", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    await writeEntries(h, [{ target: "nobody's", organizationId: null }]);
    const headers = await h.as("owner");
    const { user } = await (await h.request("/api/me", { headers })).json();
    await h.services.database.db
      .insert(members)
      .values({ organizationId: other.id, userId: user.id, roleKey: "owner" });
    expect((await read(h, { ...headers, "X-Organization": "acme" })).total).toBe(1);
    expect((await read(h, { ...headers, "X-Organization": "other" })).total).toBe(0);
  });
});
