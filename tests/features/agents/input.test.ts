import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agents } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

type Fields = Record<string, unknown>;
type Issue = { path: string; message: string };

describe("bad input", () => {
  it("lists every problem at once", async () => {
    const h = await harness();
    const json = { slug: "No Good", name: "", provider: "acme", temperature: 3, maxSteps: "16", timezone: "Mars" };
    const answer = await h.request("/api/instances", { method: "POST", headers: await h.as("owner"), json });
    const body = (await answer.json()) as { message: string; issues: Issue[] };
    expect(answer.status).toBe(400);
    expect(body.issues.map(({ path }) => path).sort()).toEqual(Object.keys(json).sort());
    expect(body.message).toContain("timezone: must be an IANA time zone, such as Europe/Rome");
    expect(body.message).toContain(
      "provider: must be one of: openai, anthropic, google, mistral, ollama, openai-compatible, demo",
    );
    expect(body.message.split("; ")).toHaveLength(6);
  });

  it("refuses each wrong value by the name of its field, and changes nothing", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    const made = await h.request("/api/instances", { method: "POST", headers, json: { slug: "firm" } });
    const { instance: before } = (await made.json()) as { instance: Fields };
    const wrong: [string, unknown][] = [
      ["name", null],
      ["name", "a\0b"],
      ["name", "\ud800"],
      ["name", "   "],
      ["name", "x".repeat(201)],
      ["description", "x".repeat(2001)],
      ["description", 5],
      ["active", "true"],
      ["status", "paused"],
      ["provider", "OpenAI"],
      ["provider", "__proto__"],
      ["model", "openai:"],
      ["model", ""],
      ["model", "x".repeat(201)],
      ["model", "\u0000"],
      ["model", "../../../key/generate?admin=1#"],
      ["model", "google:a/../b"],
      ["fastModel", "demo: "],
      ["fastModel", "google:../x"],
      ["workspaceId", "1; drop table agents"],
      ["temperature", -0.1],
      ["temperature", 2.1],
      ["temperature", "1"],
      ["maxOutputTokens", 0],
      ["maxOutputTokens", 2 ** 31],
      ["maxSteps", 2 ** 31],
      ["maxSteps", 1.5],
      ["maxSteps", null],
      ["historyLimit", -1],
      ["debounceMs", 60_001],
      ["maxRestarts", 2 ** 53],
      ["timezone", "+01:00"],
      ["timezone", "x".repeat(10_000)],
      ["monthlyTokenBudget", -1],
      ["userMonthlyTokenBudget", -1],
      ["monthlyTokenBudget", 1e300],
      ["optoutStopKeywords", "STOP"],
      ["optoutStopKeywords", ["back\\slash"]],
      ["optoutStopKeywords", [""]],
      ["optoutClosingMessage", "x".repeat(4097)],
      ["tracingProject", "\udfff"],
    ];
    for (const [field, value] of wrong) {
      const answer = await h.request("/api/instances/firm", { method: "PATCH", headers, json: { [field]: value } });
      const body = (await answer.json()) as { message: string };
      expect([field, value, answer.status]).toEqual([field, value, 400]);
      expect(body.message).toMatch(new RegExp(`^${field}(\\.0)?: `));
    }
    const after = (await (await h.request("/api/instances/firm", { headers })).json()) as { instance: Fields };
    expect(after.instance).toEqual(before);
  });

  it("refuses a status that contradicts active, and takes two that agree", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    const create = (json: Fields) => h.request("/api/instances", { method: "POST", headers, json });
    expect((await create({ slug: "a", status: "active", active: false })).status).toBe(400);
    expect((await create({ slug: "a", status: "inactive", active: false })).status).toBe(201);
    const patch = await h.request("/api/instances/a", {
      method: "PATCH",
      headers,
      json: { status: "inactive", active: true },
    });
    expect(await patch.json()).toMatchObject({
      issues: [{ path: "status", message: "contradicts active: send one of the two" }],
    });
  });

  it.each([
    "..",
    ".",
    "models",
    "import",
    "UPPER",
    "a/b",
    "../../etc",
    "x".repeat(129),
    "a\0",
    "é",
    "",
  ])("makes no agent with the slug %j", async (slug) => {
    const h = await harness();
    const answer = await h.request("/api/instances", { method: "POST", headers: await h.as("owner"), json: { slug } });
    expect(answer.status).toBe(400);
    expect(await h.services.database.db.select().from(agents)).toEqual([]);
  });

  it("finds no agent under a path that is no slug", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    const paths = ["%00", "%ff", "A", "%2e%2e%2fx", "a%20b", "x".repeat(5000), "%F0%9F%98%80", "'; select 1 --"];
    for (const path of paths) {
      const answer = await h.request(`/api/instances/${path}`, { headers });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(await answer.json()).toMatchObject({ message: "Agent not found" });
    }
  });

  it.each(["null", "[]", "5", '"x"', "{", "", '{"slug":'])("answers 400 to the body %s", async (body) => {
    const h = await harness();
    const headers = { ...(await h.as("owner")), "Content-Type": "application/json" };
    const answer = await h.request("/api/instances", { method: "POST", headers, body });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ statusCode: 400, error: "Bad Request" });
  });

  it("answers 415 to a body that is no JSON", async () => {
    const h = await harness();
    const headers = { ...(await h.as("owner")), "Content-Type": "text/plain" };
    expect((await h.request("/api/instances", { method: "POST", headers, body: "slug=x" })).status).toBe(415);
  });
});

describe("any body at all", () => {
  const names = [
    ...["name", "description", "workspaceId", "status", "active", "provider", "model", "fastModel", "temperature"],
    ...["maxSteps", "historyLimit", "timezone", "monthlyTokenBudget", "optoutStopKeywords", "optoutClosingMessage"],
    ...[
      "id",
      "slug",
      "revision",
      "authKeyHmac",
      "organizationId",
      "createdBy",
      "connectionId",
      "__proto__",
      "webEnabled",
    ],
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("openai", "demo:x", "UTC", "active", "\0", "\ud800", 2 ** 31, -1, 1e308, null, ["STOP", "\\", '"']),
  );
  const body = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 });

  it("never gives a 500, and changes only what the route owns", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "target" } });
    const columns = async () => {
      const [row] = await h.services.database.db.select().from(agents);
      if (!row) throw new Error("The agent is gone");
      const { id, slug, organizationId, authKeyHmac, connectionId, createdBy, createdAt } = row;
      return { id, slug, organizationId, authKeyHmac, connectionId, createdBy, createdAt };
    };
    const before = await columns();
    let revision = 1;
    await fc.assert(
      fc.asyncProperty(body, async (json) => {
        const answer = await h.request("/api/instances/target", { method: "PATCH", headers, json });
        expect([200, 400, 404]).toContain(answer.status);
        const text = await answer.text();
        if (answer.status === 200) {
          revision += 1;
          expect(JSON.parse(text)).toMatchObject({ instance: { slug: "target", revision } });
        }
        expect(await columns()).toEqual(before);
      }),
      { numRuns: 150 },
    );
    expect(h.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
