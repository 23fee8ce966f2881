import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import type { Parameter } from "../../../src/db/client.ts";
import { agents, auditLogs, workspaces } from "../../../src/db/schema.ts";
import { explaining, sum } from "../../plan.ts";
import { spyOnStatements } from "../../statements.ts";
import { converse, memoryHarness } from "./memories.ts";

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("remembering", () => {
  test("a fact with nothing but its words", async () => {
    const h = await memoryHarness();
    const response = await h.post({ content: "  Closed on Sundays. " });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({
      memory: {
        id: expect.any(String),
        instanceId: h.slug,
        content: "Closed on Sundays.",
        category: "general",
        importance: 5,
        subject: "",
        subjectChannel: null,
        sourceConversationId: null,
        createdAt: iso,
        updatedAt: iso,
      },
      event: "ADD",
    });
  });

  test("with all there is to it; nearly the same of the same subject is updated and keeps its source", async () => {
    const h = await memoryHarness();
    const { conversationId, ref } = await converse(h, [["Hi", "Hello"]]);
    const { memory } = await h.save("Likes tea", { conversationId });
    const saved = await h.add({ content: "likes TEA", category: "drinks", importance: 9, subject: "ada" });
    expect(saved).toMatchObject({
      event: "UPDATE",
      memory: { id: memory.id, content: "likes TEA", category: "drinks", importance: 9, sourceConversationId: ref },
    });
    expect((await h.add({ content: "Likes tea", subject: "bob" })).event).toBe("ADD");
    expect((await h.add({ content: "Likes tea" })).event).toBe("ADD");
    expect((await h.list()).total).toBe(3);
  });

  test.each<[Record<string, unknown>, string]>([
    [{}, "content"],
    [{ content: " " }, "content"],
    [{ content: "x".repeat(4_001) }, "content"],
    [{ content: "a\u0000b" }, "content"],
    [{ content: 7 }, "content"],
    [{ content: "x", category: "" }, "category"],
    [{ content: "x", category: "x".repeat(65) }, "category"],
    [{ content: "x", importance: 0 }, "importance"],
    [{ content: "x", importance: 11 }, "importance"],
    [{ content: "x", importance: 1.5 }, "importance"],
    [{ content: "x", subject: "x".repeat(257) }, "subject"],
    [{ content: "x", instanceId: undefined }, "instanceId"],
    [{ content: "x", instanceId: "a\u0000" }, "instanceId"],
  ])("%j is a 400, and nothing is kept", async (body, field) => {
    const h = await memoryHarness();
    const response = await h.post(body);
    expect(response.status).toBe(400);
    expect((await response.json()).issues).toMatchObject([{ path: field, message: expect.stringMatching(/\S/) }]);
    expect(await h.rows()).toEqual([]);
  });

  test("of an agent that is not there is a 404", async () => {
    const h = await memoryHarness();
    for (const instanceId of ["nowhere", "", "..", h.agent.id]) {
      const response = await h.post({ content: "x", instanceId });
      expect([response.status, (await response.json()).message]).toEqual([404, "Agent not found"]);
    }
  });
});

describe("listing", () => {
  test("gives what changed last first, in pages, by agent, subject, category and words", async () => {
    const h = await memoryHarness();
    const other = await h.createAgent();
    await h.add({ content: "Likes Crème brûlée", subject: "ada", category: "food" });
    await h.add({ content: "Lives in Bern", subject: "ada" });
    await h.add({ content: "Likes creamy soup", subject: "bob", category: "food" });
    await h.add({ content: "東京タワーが好き", subject: "bob" });
    await h.add({ content: "🙂", subject: "bob" });
    await h.add({ content: "Another agent's", instanceId: other.slug });
    await h.add({ content: "lives in bern", subject: "ada" });

    const all = [
      "lives in bern",
      "Another agent's",
      "🙂",
      "東京タワーが好き",
      "Likes creamy soup",
      "Likes Crème brûlée",
    ];
    expect(await h.contents()).toEqual(all);
    expect(await h.list("?limit=2&offset=1")).toMatchObject({
      memories: [
        { content: "Another agent's", instanceId: other.slug },
        { content: "🙂", instanceId: h.slug },
      ],
      total: 6,
      limit: 2,
      offset: 1,
    });
    expect(await h.list("?offset=6")).toEqual({ memories: [], total: 6, limit: 20, offset: 6 });
    expect(await h.contents(`?instanceId=${other.slug}`)).toEqual(["Another agent's"]);
    expect(await h.contents("?subject=ada")).toEqual(["lives in bern", "Likes Crème brûlée"]);
    expect(await h.contents("?subject=")).toEqual(["Another agent's"]);
    expect(await h.contents("?category=food")).toEqual(["Likes creamy soup", "Likes Crème brûlée"]);
    const find = (text: string) => h.contents(`?search=${encodeURIComponent(text)}`);
    expect(await find("CREM")).toEqual(["Likes Crème brûlée"]);
    expect(await find("like cre")).toEqual(["Likes creamy soup", "Likes Crème brûlée"]);
    expect(await find("likes bern")).toEqual([]);
    for (const text of ["東京", "タワー", "好", "き"]) expect(await find(text)).toEqual(["東京タワーが好き"]);
    expect(await find("🙂")).toEqual(["🙂"]);
    expect(await find("")).toEqual(all);
    expect(await find("'")).toEqual(["Another agent's"]);
    for (const text of ["%", "_", "\\", ":*", "!", "' or 1=1 --", "'; --"]) expect(await find(text)).toEqual([]);
    expect(await h.contents(`?instanceId=${h.slug}&subject=bob&category=food&search=soup`)).toEqual([
      "Likes creamy soup",
    ]);
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=x",
    "offset=-1",
    "limit=1&limit=2",
    "search=%00",
    `subject=${"x".repeat(257)}`,
  ])("%s is a 400", async (query) => {
    const h = await memoryHarness();
    const response = await h.request(`/memories?${query}`, { headers: h.headers });
    expect(response.status).toBe(400);
  });

  test("of an agent that is not there is a 404, of an empty one too", async () => {
    const h = await memoryHarness();
    for (const slug of ["nowhere", ""]) {
      expect((await h.request(`/memories?instanceId=${slug}`, { headers: h.headers })).status).toBe(404);
    }
  });
});

test("a page is read from an index, and no more is counted than 10,001, however many there are", async () => {
  const h = await memoryHarness();
  const other = await h.createAgent();
  await h.save("Likes tea");
  await h.database.query(
    `insert into memories (id, agent_id, organization_id, subject, content, digest, search, updated_at)
     select gen_random_uuid(), case n % 2 when 0 then agent_id else $1 end, organization_id, 'user-' || n % 500, content || n,
       sha256(n::text::bytea), search, now() - n * interval '1 second'
     from memories, generate_series(1, 10001) n`,
    [other.id],
  );
  await h.database.query("analyze memories", []);
  const statements = spyOnStatements(h.database);
  const page = await h.list("?limit=5&offset=2");
  const newest = (await h.rows()).slice(2, 7).map(({ id }) => id);
  expect([page.memories.map(({ id }) => id), page.total]).toEqual([newest, 10_001]);
  const asked = statements.calls().find(({ text }) => text.includes("lateral"));
  const explained = explaining(h.database);
  await explained.database.query(asked?.text ?? "", asked?.parameters as Parameter[]);
  expect(sum(explained.reads("memories").map(({ read }) => read))).toBeLessThan(30);
});

describe("forgetting", () => {
  const filled = async () => {
    const h = await memoryHarness();
    const other = await h.createAgent();
    await h.add({ content: "One", subject: "ada" });
    await h.add({ content: "Two", subject: "bob" });
    await h.add({ content: "Three", subject: "ada", instanceId: other.slug });
    return { ...h, other };
  };

  test("one by its id, once", async () => {
    const h = await filled();
    const id = (await h.list("?search=two")).memories[0]?.id ?? "";
    const response = await h.forget(`/${id}`);
    expect([response.status, await response.json()]).toEqual([200, { deleted: true }]);
    expect(await h.contents()).toEqual(["Three", "One"]);
    for (const gone of [id, newId(), "x", "%00"]) {
      const again = await h.forget(`/${gone}`);
      expect([again.status, (await again.json()).message]).toEqual([404, "Memory not found"]);
    }
  });

  test.each<[string, (other: string) => string, string[]]>([
    ["everything", () => "", []],
    ["an agent's", (other) => `?instanceId=${other}`, ["Two", "One"]],
    ["what is about one end user", () => "?subject=ada", ["Two"]],
    ["an agent's about one end user", (other) => `?instanceId=${other}&subject=bob`, ["Three", "Two", "One"]],
  ])("%s, with the count", async (_label, query, left) => {
    const h = await filled();
    const response = await h.forget(query(h.other.slug));
    expect([response.status, await response.json()]).toEqual([200, { deleted: true, count: 3 - left.length }]);
    expect(await h.contents()).toEqual(left);
  });

  test("nothing when it is not clear what is meant", async () => {
    const h = await filled();
    expect((await h.forget("?instanceId=")).status).toBe(404);
    expect((await h.forget("?instanceId=nowhere")).status).toBe(404);
    for (const query of ["instanceID=x", "category=food", "search=one", `instanceId=${h.slug}&instanceId=${h.slug}`]) {
      const response = await h.forget(`?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
    }
    expect((await h.list()).total).toBe(3);
  });
});

describe("who may", () => {
  test("readers read, writers write, and callers without either right do neither", async () => {
    const h = await memoryHarness();
    const { memory } = await h.add({ content: "One" });
    const viewer = await h.as("viewer");
    expect(await h.contents("", viewer)).toEqual(["One"]);
    for (const refused of [
      h.post({ content: "Two" }, viewer),
      h.forget("", viewer),
      h.forget(`/${memory.id}`, viewer),
    ]) {
      const response = await refused;
      expect([response.status, (await response.json()).message]).toEqual([403, "Missing permission: memory:write"]);
    }
    const member = await h.as("member");
    expect((await h.post({ content: "Two" }, member)).status).toBe(201);
    expect((await h.forget(`/${memory.id}`, member)).status).toBe(200);
    for (const method of ["GET", "POST", "DELETE"]) expect((await h.request("/memories", { method })).status).toBe(401);
    expect((await h.forget(`/${memory.id}`, {})).status).toBe(401);
    expect(await h.contents()).toEqual(["Two"]);
  });

  test("an agent's key opens nothing here, and the paths have no /api", async () => {
    const h = await memoryHarness();
    const { key } = await h.anotherAgent();
    expect((await h.request("/memories", { headers: { Authorization: `Bearer ${key}` } })).status).toBe(401);
    expect((await h.request("/api/memories", { headers: h.headers })).status).toBe(404);
  });

  test("another organization's and another workspace's memories are not there", async () => {
    const h = await memoryHarness();
    const elsewhere = await h.createAgent();
    const workspaceId = newId();
    await h.database.db
      .insert(workspaces)
      .values({ id: workspaceId, organizationId: h.organization.id, name: "elsewhere" });
    await h.database.db.update(agents).set({ workspaceId }).where(eq(agents.id, elsewhere.id));
    const near = await h.add({ content: "canary-near", subject: "ada" });
    const far = await h.add({ content: "canary-far", subject: "ada", instanceId: elsewhere.slug });

    const member = await h.as("member");
    expect(await h.contents("?search=canary", member)).toEqual(["canary-near"]);
    const stranger = await h.as("owner", { organization: await h.createOrganization("other") });
    expect(await h.list("?search=canary", stranger)).toMatchObject({ memories: [], total: 0 });

    const refused = [
      ...[member, stranger].flatMap((as) => [
        h.request(`/memories?instanceId=${elsewhere.slug}`, { headers: as }),
        h.post({ content: "x", instanceId: elsewhere.slug }, as),
        h.forget(`?instanceId=${elsewhere.slug}`, as),
        h.forget(`/${far.memory.id}`, as),
      ]),
      h.forget(`/${near.memory.id}`, stranger),
    ];
    for (const response of await Promise.all(refused)) {
      expect(response.status).toBe(404);
      expect(await response.text()).not.toContain("canary");
    }
    expect(await (await h.forget("", stranger)).json()).toEqual({ deleted: true, count: 0 });
    expect(await (await h.forget("", member)).json()).toEqual({ deleted: true, count: 1 });
    expect(await h.contents()).toEqual(["canary-far"]);
  });
});

test("each write is in the audit log, without what was remembered, and leaves the agent as it is", async () => {
  const h = await memoryHarness();
  const { memory } = await h.add({ content: "canary-secret", subject: "ada" });
  await h.add({ content: "canary-secret", subject: "ada" });
  await h.forget(`/${memory.id}`);
  await h.add({ content: "canary-other", subject: "ada" });
  await h.forget(`?instanceId=${h.slug}&subject=ada`);
  // Nothing is left to delete.
  await h.forget();
  const rows = await h.database.db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id);
  const own = rows.filter(({ action }) => action.startsWith("memory."));
  expect(own.map(({ action, target, agentId, summary }) => [action, target, agentId, summary])).toEqual([
    ["memory.create", h.slug, h.agent.id, { memoryId: memory.id, event: "ADD" }],
    ["memory.create", h.slug, h.agent.id, { memoryId: memory.id, event: "UPDATE" }],
    ["memory.delete", h.slug, h.agent.id, { memoryId: memory.id }],
    ["memory.create", h.slug, h.agent.id, { memoryId: expect.any(String), event: "ADD" }],
    ["memory.delete-all", h.slug, h.agent.id, { subject: "ada", count: 1 }],
  ]);
  expect(JSON.stringify(rows)).not.toContain("canary");
  expect(h.logs.join("\n")).not.toContain("canary");
  const [agent] = await h.database.db.select().from(agents).where(eq(agents.id, h.agent.id));
  expect(agent?.revision).toBe(h.agent.revision);
});
