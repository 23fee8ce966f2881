import { describe, expect, test } from "vitest";
import { auditLogs, members, oneTimeTokens, organizations, users, workspaces } from "../../../src/db/schema.ts";
import { bootstrapOwner, issueSetupToken, ownerExists } from "../../../src/features/account/index.ts";
import { type Harness, harness } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";
import { password, signIn } from "./people.ts";

const email = "owner@example.com";
const day = 24 * 60 * 60_000;

const setUp = (h: Harness, json: unknown, headers: Record<string, string> = {}) =>
  h.request("/api/setup", { method: "POST", json, headers });

describe("the owner of the environment", () => {
  test("is made with organization and workspace, once", async () => {
    const h = await harness();
    const { db } = h.services.database;
    expect(await ownerExists(h.services)).toBe(false);
    const made = await bootstrapOwner(h.services, { email: "Owner@Example.com", password });
    expect(made).toMatchObject({ organizationSlug: "default", created: true });
    expect(await ownerExists(h.services)).toBe(true);
    const again = await bootstrapOwner(h.services, { email, password: "another password" });
    expect(again).toEqual({ ...made, created: false });
    expect((await signIn(h, { email, password })).status).toBe(200);
    expect((await signIn(h, { email, password: "another password" })).status).toBe(401);

    expect(await db.select().from(users)).toMatchObject([{ id: made.userId, email, name: "owner" }]);
    const home = (await db.select().from(workspaces)).filter(
      ({ organizationId }) => organizationId === made.organizationId,
    );
    expect(home.map(({ name }) => name)).toEqual(["default"]);
  });

  test("is not added when an owner exists already", async () => {
    const h = await harness();
    const first = await bootstrapOwner(h.services, { email, password });
    const second = await bootstrapOwner(h.services, { email: "late@example.com", password });
    expect(second).toEqual({ ...first, created: false });
    expect((await signIn(h, { email: "late@example.com", password })).status).toBe(401);
  });

  test("is one, however many replicas start at once", async () => {
    const h = await harness();
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, index) => bootstrapOwner(h.services, { email: `${index}@example.com`, password })),
    );
    expect(made.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(made.map(({ userId }) => userId)).size).toBe(1);
    expect(await h.services.database.db.select().from(users)).toHaveLength(1);
  });
});

describe("POST /api/setup", () => {
  test("makes the owner of a chosen organization", async () => {
    const h = await harness();
    const token = await issueSetupToken(h.services);
    const response = await setUp(h, {
      token,
      email: "OWNER@example.com",
      password,
      name: " Ada ",
      organization: "lab",
    });
    expect(response.status).toBe(201);
    const answer = await response.json();
    expect(answer).toEqual({ user: { id: expect.any(String), email, name: "Ada" }, organization: { slug: "lab" } });
    const session = await (await signIn(h, { email, password })).json();
    const me = await h.request("/api/me", { headers: { Authorization: `Bearer ${session.token}` } });
    expect((await me.json()).user).toEqual({
      ...answer.user,
      onboarding: {},
      organizations: [
        { slug: "lab", name: "lab", roleKey: "owner", permissions: expect.arrayContaining(["org:write"]) },
      ],
    });
    const audit = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    expect(audit.map(({ action }) => action)).toContain("installation.setup");
    const again = await setUp(h, { token, email: "two@example.com", password });
    expect(again.status).toBe(409);
  });

  test("lets exactly one of many calls through, with one link or with several", async () => {
    const h = await harness();
    const tokens = [await issueSetupToken(h.services), await issueSetupToken(h.services)];
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        setUp(h, { token: tokens[index % 2], email: `${index}@example.com`, password, organization: `org-${index}` }),
      ),
    );
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(7).fill(409)]);
    const { db } = h.services.database;
    expect(await db.select().from(users)).toHaveLength(1);
    expect(await db.select().from(members)).toHaveLength(1);
    expect(await db.select().from(organizations)).toHaveLength(2);
  });

  test("refuses a link that is unknown, or older than 24 hours", async () => {
    const h = await harness();
    const token = await issueSetupToken(h.services);
    expect((await setUp(h, { token: `${token}x`, email, password })).status).toBe(401);
    await h.clock.advance(day);
    const late = await setUp(h, { token, email, password });
    expect(late.status).toBe(401);
    expect((await late.json()).message).toContain("restart the server");
    expect(await ownerExists(h.services)).toBe(false);
  });

  test.each([
    [{ email, password }, "token"],
    [{ token: "t\u0000", email, password }, "token"],
    [{ token: "t", email, password: "short" }, "password"],
    [{ token: "t", email: "nobody", password }, "email"],
    [{ token: "t", email, password, organization: "No Slug" }, "organization"],
    [{ token: "t", email, password, organization: "-a" }, "organization"],
    [{ token: "t", email, password, organization: "a".repeat(64) }, "organization"],
    [{ token: "t", email, password, name: "" }, "name"],
    [{ token: "t", email, password, name: "x".repeat(129) }, "name"],
    [{ token: "t", email, password, name: "\ud800" }, "name"],
  ])("answers 400 to %j", async (body, field) => {
    const h = await harness();
    const response = await setUp(h, body);
    expect(response.status).toBe(400);
    expect((await response.json()).issues).toMatchObject([{ path: field }]);
  });

  test("is not for pages of other sites", async () => {
    const h = await harness();
    const token = await issueSetupToken(h.services);
    const foreign = { Origin: "https://evil.example" };
    expect((await setUp(h, { token, email, password }, foreign)).status).toBe(403);
    expect(await ownerExists(h.services)).toBe(false);
  });

  test("stores the token as a digest only, and logs nothing of it", async () => {
    const h = await harness();
    const token = await issueSetupToken(h.services);
    expect(token).toMatch(/^[\w-]{43}$/);
    await h.request(`/api/setup?token=${token}`);
    await setUp(h, { token, email, password });
    const rows = await h.services.database.db.select().from(oneTimeTokens);
    expect(rows).toMatchObject([{ kind: "setup", digest: expect.anything(), usedAt: expect.any(Date) }]);
    const stored = await h.services.database.query("select t::text from one_time_tokens t", []);
    for (const secret of [token, password]) expect(JSON.stringify([stored, h.logs])).not.toContain(secret);
  });
});

describe("GET /api/setup", () => {
  const state = async (h: Harness, query = "", headers = {}) =>
    (await h.request(`/api/setup${query}`, { headers })).json();

  test("says whether there is an owner, whether a link works, and whether the request carries a session", async () => {
    const h = await harness();
    const token = await issueSetupToken(h.services);
    expect(await state(h)).toEqual({ installed: false, tokenValid: false, hasSession: false });
    expect(await state(h, `?token=${token}`)).toEqual({ installed: false, tokenValid: true, hasSession: false });
    for (const wrong of ["", "nope", "%ff", '"><script>']) {
      expect(await state(h, `?token=${wrong}`), wrong).toMatchObject({ tokenValid: false });
    }
    expect((await h.request("/api/setup?token=%00")).status).toBe(400);
    await bootstrapOwner(h.services, { email, password });
    expect(await state(h, `?token=${token}`)).toEqual({ installed: true, tokenValid: false, hasSession: false });
    expect(await state(h, "", await h.as("viewer"))).toMatchObject({ hasSession: true });
  });

  test("is limited for each address, like POST and with it, and a refused call asks the database nothing", async () => {
    const h = await harness({ trustProxy: 1 });
    const { policies, database } = h.services;
    policies.set({ ...policies.values, rateLimit: { limit: 10, windowSeconds: 60 } });
    const from = (address: string) => ({ "X-Forwarded-For": address });
    const ask = (address: string) => h.request("/api/setup?token=guess", { headers: from(address) });
    const guess = () => setUp(h, { token: "guess", email, password }, from("203.0.113.9"));
    for (let count = 0; count < 5; count += 1) {
      expect((await ask("203.0.113.9")).status).toBe(200);
      expect((await guess()).status).toBe(401);
    }
    const { texts } = spyOnStatements(database);
    const refused = await ask("203.0.113.9");
    expect([refused.status, refused.headers.get("Retry-After"), (await guess()).status]).toEqual([429, "60", 429]);
    expect(texts()).toEqual([]);
    expect((await ask("203.0.113.10")).status).toBe(200);
  });

  test("is kept by nobody in between", async () => {
    const response = await (await harness()).request("/api/setup");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });
});

test.each(["/favicon.svg", "/favicon.ico"])("%s is a picture", async (path) => {
  const response = await (await harness()).request(path);
  expect(response.headers.get("Content-Type")).toBe("image/svg+xml");
  expect(await response.text()).toMatch(/^<svg /);
});
