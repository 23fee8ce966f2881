import { describe, expect, test } from "vitest";
import { auditLogs } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";

const path = "/api/organizations/acme/management-keys";

const create = (h: Harness, headers: Record<string, string>, json: unknown = { name: "CI" }) =>
  h.request(path, { method: "POST", headers, json });

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

describe("management keys", () => {
  test("are issued, listed without the key, and revoked at once", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const response = await create(h, owner, { name: "CI", expiresAt: "2026-02-01T01:00:00+01:00" });
    expect(response.status).toBe(201);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const { key, ...shown } = await response.json();
    expect(key).toMatch(/^aek_[\w-]{43}$/);
    expect(shown).toEqual({
      id: expect.any(String),
      name: "CI",
      prefix: key.slice(0, 10),
      expiresAt: "2026-02-01T00:00:00.000Z",
      createdAt: "2026-01-01T00:00:00.000Z",
    });

    expect((await h.request("/api/instances", { headers: bearer(key) })).status).toBe(200);
    const list = await h.request(path, { headers: owner });
    expect(await list.json()).toEqual({ managementKeys: [{ ...shown, lastUsedAt: "2026-01-01T00:00:00.000Z" }] });

    const revoked = await h.request(`${path}/${shown.id}`, { method: "DELETE", headers: owner });
    expect(await revoked.json()).toEqual({ deleted: true });
    expect((await h.request("/api/instances", { headers: bearer(key) })).status).toBe(401);
    expect((await h.request(`${path}/${shown.id}`, { method: "DELETE", headers: owner })).status).toBe(404);

    const audit = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    expect(audit.map(({ action, target }) => [action, target])).toEqual([
      ["management-key.create", "CI"],
      ["management-key.delete", "CI"],
    ]);
    const stored = await h.services.database.query("select t::text from access_tokens t", []);
    expect(JSON.stringify([stored, audit, h.logs])).not.toContain(key);
  });

  test("expire when they were told to, also after use", async () => {
    const h = await harness();
    const { key } = await (
      await create(h, await h.as("owner"), { name: "CI", expiresAt: "2026-01-01T02:00:00Z" })
    ).json();
    const status = async () => (await h.request("/api/instances", { headers: bearer(key) })).status;
    expect(await status()).toBe(200);
    await h.clock.advance(2 * 60 * 60_000 - 1);
    expect(await status()).toBe(200);
    await h.clock.advance(1);
    expect(await status()).toBe(401);
  });

  test("hold the Owner set of their organization and no other", async () => {
    const h = await harness();
    await h.createOrganization("other");
    const { key } = await (await create(h, await h.as("owner"))).json();
    const at = async (organization: string) =>
      (await h.request("/api/instances", { headers: { ...bearer(key), "X-Organization": organization } })).status;
    expect(await at("acme")).toBe(200);
    expect(await at("other")).toBe(404);
    expect(await at("missing")).toBe(404);
  });

  test("open nothing that asks for a signed-in person", async () => {
    const h = await harness();
    const { key, id } = await (await create(h, await h.as("owner"))).json();
    const refused = await Promise.all([
      h.request(path, { headers: bearer(key) }),
      create(h, bearer(key)),
      h.request(`${path}/${id}`, { method: "DELETE", headers: bearer(key) }),
      h.request("/api/me", { headers: bearer(key) }),
      h.request("/api/auth/sign-out", { method: "POST", headers: bearer(key) }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect(
      (await h.request("/api/instances", { headers: { Cookie: `agent_engine.session_token=${key}` } })).status,
    ).toBe(401);
    expect((await h.request("/v1/models", { headers: bearer(key) })).status).toBe(401);
  });

  test.each(["admin", "member", "viewer"] as const)("are no matter of a %s", async (role) => {
    const h = await harness();
    const headers = await h.as(role);
    const response = await create(h, headers, "not even valid");
    expect(response.status).toBe(403);
    expect((await response.json()).message).toBe("Missing permission: org.key:manage");
    expect((await h.request(path, { headers })).status).toBe(403);
  });

  test("of another organization do not exist", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const stranger = await h.as("owner", { organization: other });
    const { id } = await (await create(h, await h.as("owner"))).json();
    const foreign = await h.request(path, { headers: stranger });
    const missing = await h.request("/api/organizations/missing/management-keys", { headers: stranger });
    expect([foreign.status, await foreign.text()]).toEqual([404, await missing.text()]);
    expect((await create(h, stranger)).status).toBe(404);
    const deleteAt = async (slug: string) =>
      (await h.request(`/api/organizations/${slug}/management-keys/${id}`, { method: "DELETE", headers: stranger }))
        .status;
    expect(await deleteAt("acme")).toBe(404);
    expect(await deleteAt("other")).toBe(404);
    expect((await (await h.request(path, { headers: await h.as("owner") })).json()).managementKeys).toHaveLength(1);
  });

  test.each([
    [{}],
    [{ name: "" }],
    [{ name: "  " }],
    [{ name: "x".repeat(129) }],
    [{ name: "\u0000" }],
    [{ name: "a", expiresAt: "soon" }],
    [{ name: "a", expiresAt: "2025-12-31T23:59:59Z" }],
    [{ name: "a", expiresAt: "2026-01-01T00:00:00Z" }],
    [{ name: "a", expiresAt: "2026-13-01T00:00:00Z" }],
    [{ name: "a", expiresAt: 1 }],
    // In UTC it is a year of five digits, which PostgreSQL does not read.
    [{ name: "a", expiresAt: "9999-12-31T23:59:59-00:01" }],
    [[]],
    [null],
  ])("are not made of %j", async (body) => {
    const h = await harness();
    const response = await create(h, await h.as("owner"), body);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(/name|expiresAt|must be an object/i);
  });

  test.each([
    "1",
    "%00",
    "..%2f..",
    "' or 1=1",
    "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d",
  ])("with the id %s do not exist", async (id) => {
    const h = await harness();
    const response = await h.request(`${path}/${id}`, { method: "DELETE", headers: await h.as("owner") });
    expect(response.status).toBe(404);
  });
});
