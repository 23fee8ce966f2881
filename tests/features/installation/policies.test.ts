import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { EngineError } from "../../../src/core/errors.ts";
import { CurrentPolicies, defaultPolicies } from "../../../src/core/policies.ts";
import { accessTokens, auditLogs, installation } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";

type Headers = Record<string, string>;

const path = "/api/installation/policies";
const shown = { ...defaultPolicies, publicAddress: "http://localhost:4000" };

const show = (h: Harness, headers: Headers) => h.request(path, { headers });
const change = (h: Harness, headers: Headers, json: unknown) => h.request(path, { method: "PATCH", headers, json });

async function policiesOf(response: Promise<Response>): Promise<Record<string, unknown>> {
  const answer = await response;
  expect(answer.status).toBe(200);
  return (await answer.json()).policies;
}

const stored = async ({ services }: Harness) => (await services.database.db.select().from(installation))[0];

describe("reading and changing", () => {
  test("an installation without any policy has the defaults, and its BASE_URL", async () => {
    const h = await harness();
    expect(await policiesOf(show(h, await h.as("owner")))).toEqual(shown);
  });

  test("any subset is changed, also inside the nested ones; null puts back; only what was set is stored", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const first = {
      publicAddress: "https://tea.example/",
      defaultModel: "openai:gpt-5-mini",
      rateLimit: { limit: 900 },
      retentionDays: 30,
      httpAllowedHosts: ["ERP:80"],
      unknown: 1,
    };
    expect(await policiesOf(change(h, owner, first))).toEqual({
      ...shown,
      publicAddress: "https://tea.example",
      defaultModel: "openai:gpt-5-mini",
      rateLimit: { limit: 900, windowSeconds: 60 },
      retentionDays: 30,
      httpAllowedHosts: ["erp:80"],
    });
    const second = { publicAddress: null, retentionDays: null, rateLimit: { windowSeconds: 30 }, maxRestarts: 0 };
    const after = await policiesOf(change(h, owner, second));
    expect(after).toMatchObject({
      publicAddress: "http://localhost:4000",
      retentionDays: null,
      rateLimit: { limit: 900, windowSeconds: 30 },
      maxRestarts: 0,
    });
    expect(await policiesOf(show(h, owner))).toEqual(after);
    expect(await stored(h)).toMatchObject({
      policiesRevision: 3,
      policies: {
        defaultModel: "openai:gpt-5-mini",
        rateLimit: { limit: 900, windowSeconds: 30 },
        httpAllowedHosts: ["erp:80"],
        maxRestarts: 0,
      },
    });
    expect(Object.keys((await stored(h))?.policies ?? {})).toHaveLength(4);
  });

  test.each([{}, { unknown: 1 }, { rateLimit: {} }])("%j changes nothing and leaves no trace", async (body) => {
    const h = await harness();
    const owner = await h.as("owner");
    expect(await policiesOf(change(h, owner, body))).toEqual(shown);
    expect(await stored(h)).toBeUndefined();
    expect(await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id)).toEqual([]);
  });

  test.each<[unknown, string]>([
    [[], ""],
    [null, ""],
    [{ debounceMs: null }, "debounceMs"],
    [{ rateLimit: null }, "rateLimit"],
    [{ rateLimit: { limit: null } }, "rateLimit.limit"],
    [{ rateLimit: { limit: 0 } }, "rateLimit.limit"],
    [{ rateLimit: { limit: 9 } }, "rateLimit.limit"],
    [{ rateLimit: [] }, "rateLimit"],
    [{ activityConnections: { perUser: 1e9 } }, "activityConnections.perUser"],
    [{ fileMegabytes: { total: 0 } }, "fileMegabytes.total"],
    [{ debounceMs: "2000" }, "debounceMs"],
    [{ debounceMs: 1.5 }, "debounceMs"],
    [{ maxRestarts: -1 }, "maxRestarts"],
    [{ retentionDays: 0 }, "retentionDays"],
    [{ environmentKeys: "some" }, "environmentKeys"],
    [{ defaultModel: "gpt-5" }, "defaultModel"],
    [{ defaultModel: "openai:\u0000" }, "defaultModel"],
    [{ defaultModel: "google:../../key?a=1#" }, "defaultModel"],
    [{ publicAddress: "https://x/\u0000" }, "publicAddress"],
    [{ tracingBaseUrl: "https://me:secret@x" }, "tracingBaseUrl"],
    [{ httpAllowedHosts: ["a", "b c"] }, "httpAllowedHosts.1"],
    [{ httpAllowedHosts: Array(257).fill("a") }, "httpAllowedHosts"],
    [{ maxRestarts: 1, roomSlots: 0 }, "roomSlots"],
  ])("%j is a 400 that names %j and stores nothing", async (body, field) => {
    const h = await harness();
    const response = await change(h, await h.as("owner"), body);
    expect(response.status).toBe(400);
    expect((await response.json()).issues).toMatchObject([{ path: field, message: expect.stringMatching(/\S/) }]);
    expect(await stored(h)).toBeUndefined();
  });

  test("changes at the same time all stay", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const changes = [
      { debounceMs: 1 },
      { typingDelayMs: 2 },
      { maxRestarts: 3 },
      { rateLimit: { limit: 500 } },
      { rateLimit: { windowSeconds: 50 } },
      { activityConnections: { total: 6 } },
      { activityConnections: { perUser: 7 } },
      { roomSlots: 8 },
      { fileMegabytes: { total: 9 } },
      { fileMegabytes: { perUser: 10 } },
    ];
    const answers = await Promise.all(changes.map((json) => change(h, owner, json)));
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    const expected = {
      debounceMs: 1,
      typingDelayMs: 2,
      maxRestarts: 3,
      rateLimit: { limit: 500, windowSeconds: 50 },
      activityConnections: { total: 6, perUser: 7 },
      roomSlots: 8,
      fileMegabytes: { total: 9, perUser: 10 },
    };
    expect(await stored(h)).toMatchObject({ policies: expected, policiesRevision: 1 + changes.length });
    expect(h.services.policies.values).toEqual({ ...defaultPolicies, ...expected });
  });

  test("the audit log has the names and the values, and only what changed", async () => {
    const h = await harness();
    await change(h, await h.as("owner"), { defaultModel: null, rateLimit: { limit: 70 }, unknown: "x" });
    expect(await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id)).toMatchObject([
      {
        organizationId: h.organization.id,
        action: "policy.update",
        target: "policies",
        actorType: "user",
        summary: { changes: { rateLimit: { from: null, to: { limit: 70 } } } },
      },
    ]);
  });

  test("values that another release stored stay, and invalid ones can be changed", async () => {
    const h = await harness();
    const policies = { someday: [1], maxRestarts: "x", rateLimit: { limit: "x" } };
    await h.services.database.db.insert(installation).values({ id: 1, policies });
    const owner = await h.as("owner");
    expect(await policiesOf(change(h, owner, { rateLimit: { windowSeconds: 30 } }))).toEqual({
      ...shown,
      rateLimit: { limit: 600, windowSeconds: 30 },
    });
    expect((await stored(h))?.policies).toEqual({
      someday: [1],
      maxRestarts: "x",
      rateLimit: { windowSeconds: 30 },
    });
  });
});

describe("who", () => {
  test("only an Owner of the first organization, or its key", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const key = async (organizationId: string) => {
      const { token, digest } = await newToken("management");
      await h.services.database.db
        .insert(accessTokens)
        .values({ id: crypto.randomUUID(), kind: "management", digest, organizationId });
      return { Authorization: `Bearer ${token}` };
    };
    const callers: [Headers, number][] = [
      [{}, 401],
      [await h.as("owner"), 200],
      [await h.as("admin"), 403],
      [await h.as("member"), 403],
      [await h.as("viewer"), 403],
      [await h.as("owner", { organization: other }), 403],
      [{ ...(await h.as("owner", { organization: other })), "X-Organization": "other" }, 403],
      [{ ...(await h.as("owner", { organization: other })), "X-Organization": "acme" }, 404],
      [await key(h.organization.id), 200],
      [await key(other.id), 403],
    ];
    for (const [headers, status] of callers) {
      expect((await show(h, headers)).status).toBe(status);
      expect((await change(h, headers, { maxRestarts: 9 })).status).toBe(status);
    }
    const refused = await change(h, await h.as("admin"), { maxRestarts: 9 });
    expect((await refused.json()).message).toBe("Missing permission: policy:manage");
  });
});

describe("replicas", () => {
  /** A second process on the same database. */
  const replica = (h: Harness) => {
    const services = { ...h.services, policies: new CurrentPolicies() };
    return { engine: createEngine(services), services };
  };

  test("one takes over what another one changed at its start, and with each tick", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await change(h, owner, { maxRestarts: 7 });
    const { engine, services } = replica(h);
    expect(services.policies.values.maxRestarts).toBe(3);
    await engine.boot({});
    expect(services.policies.values.maxRestarts).toBe(7);
    await change(h, owner, { maxRestarts: 8, publicAddress: "https://tea.example" });
    expect(services.policies.values.maxRestarts).toBe(7);
    await engine.tick();
    expect(services.policies.values).toEqual(h.services.policies.values);
    expect(services.policies.values).toMatchObject({ maxRestarts: 8, publicAddress: "https://tea.example" });
  });

  test("a failing database leaves the old ones in force", async () => {
    const h = await harness();
    await change(h, await h.as("owner"), { maxRestarts: 7 });
    const statements = spyOnStatements(h.services.database);
    statements.failWith(new EngineError("unavailable", "Away"));
    await expect(h.engine.tick()).rejects.toThrow("Away");
    expect(h.services.policies.values.maxRestarts).toBe(7);
    statements.restore();
    await h.engine.tick();
    expect(h.services.policies.values.maxRestarts).toBe(7);
  });

  test("what this release can't take is ignored, with one warning", async () => {
    const h = await harness();
    const { db } = h.services.database;
    await db.insert(installation).values({ id: 1, policies: { maxRestarts: 99, debounceMs: 5, someday: 1 } });
    const warnings = () => h.logs.filter((line) => line.includes("can't take"));
    for (let ticks = 0; ticks < 3; ticks += 1) await h.engine.tick();
    expect(h.services.policies.values).toEqual({ ...defaultPolicies, debounceMs: 5 });
    expect(warnings().map((line) => JSON.parse(line))).toMatchObject([
      { level: "warn", policies: ["maxRestarts", "someday"] },
    ]);
    await db
      .update(installation)
      .set({ policies: { later: 1 } })
      .where(eq(installation.id, 1));
    await h.engine.tick();
    await h.engine.tick();
    expect(warnings()).toHaveLength(2);
  });
});
