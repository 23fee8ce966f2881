import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { members, users } from "../../src/db/schema.ts";
import { type Harness, harness } from "../harness.ts";

type Headers = Record<string, string>;

const tokenOf = (headers: Headers) => headers.Authorization?.slice("Bearer ".length) ?? "";
const cookie = (token: string) => ({ Cookie: `agent_engine.session_token=${token}` });
const status = async (h: Harness, headers: Headers, path = "/api/me") => (await h.request(path, { headers })).status;

describe("credentials", () => {
  test("are needed, whatever the path looks like", async () => {
    const h = await harness();
    for (const path of [
      "/api/me",
      "/api/me?x=1",
      "/api/%6De",
      "/api//me",
      "/api/me/",
      "//api/me",
      "/API/me",
      "/api/me;a",
      "/x/../api/me",
    ]) {
      expect([401, 404], path).toContain(await status(h, {}, path));
    }
    const response = await h.request("/api/me");
    expect(response.headers.get("WWW-Authenticate")).toBe("Bearer");
    expect(await response.json()).toEqual({ statusCode: 401, message: "Missing credentials", error: "Unauthorized" });
  });

  test("are refused in any odd form", async () => {
    const h = await harness();
    const token = tokenOf(await h.as("owner"));
    for (const header of [
      token,
      `Basic ${token}`,
      "Bearer",
      "Bearer ",
      `Bearer ${token} x`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer\t${token}`,
      `Bearer "${token}"`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      "Bearer aes_' or 1=1--",
      `Bearer ${"a".repeat(10_000)}`,
    ]) {
      expect(await status(h, { Authorization: header }), header).toBe(401);
    }
    for (const value of ["", "x", `${token}x`, "%00", "%ff", '"'.repeat(50)]) {
      expect(await status(h, cookie(value)), value).toBe(401);
    }
    const repeated = new Headers({ Authorization: `Bearer ${token}` });
    repeated.append("Authorization", `Bearer ${token}`);
    expect((await h.request("/api/me", { headers: repeated })).status).toBe(401);
    expect(await status(h, { Authorization: `bearer  ${token}` })).toBe(200);
  });

  test("prefer the bearer over the cookie", async () => {
    const h = await harness();
    const [viewer, owner] = [await h.as("viewer"), await h.as("owner")];
    const response = await h.request("/api/me", { headers: { ...viewer, ...cookie(tokenOf(owner)) } });
    expect((await response.json()).user.name).toBe("viewer");
    expect(await status(h, { Authorization: "Bearer wrong", ...cookie(tokenOf(owner)) })).toBe(401);
  });

  test("cost one statement", async () => {
    const h = await harness();
    const [owner, member] = [await h.as("owner"), await h.as("member")];
    const query = vi.spyOn(h.services.database, "query");
    expect(await status(h, owner)).toBe(200);
    expect(await status(h, { ...member, "X-Organization": "acme" })).toBe(200);
    expect(query).toHaveBeenCalledTimes(2);
  });

  test("end with the user", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    const { user } = await (await h.request("/api/me", { headers })).json();
    await h.services.database.db.delete(users).where(eq(users.id, user.id));
    expect(await status(h, headers)).toBe(401);
  });
});

describe("the cookie", () => {
  test("is not believed when a neighbouring site may have planted it", async () => {
    const h = await harness();
    const [mine, other] = [tokenOf(await h.as("owner")), tokenOf(await h.as("owner"))];
    const name = "agent_engine.session_token";
    expect(await status(h, { Cookie: `${name}=${other}; ${name}=${mine}` })).toBe(401);
    expect(await status(h, { Cookie: `${name}=rubbish; a=b; ${name}=${mine}` })).toBe(401);
    expect(await status(h, { Cookie: `${name}=${mine}; a=b; ${name}=${mine}` })).toBe(200);
  });

  const write = (h: Harness, headers: Headers) => h.request("/api/auth/sign-out", { method: "POST", headers });

  test("reads without an Origin and writes only from pages of ours", async () => {
    const h = await harness();
    const session = cookie(tokenOf(await h.as("owner")));
    expect(await status(h, { ...session, Origin: "https://evil.example" })).toBe(200);
    for (const headers of [
      {},
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { Origin: "http://localhost.evil.example" },
      { Origin: "evil://localhost" },
      { Origin: "http://localhost:4001" },
      { Origin: "http://localhost", "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "none" },
      { Referer: "http://localhost/" },
    ]) {
      const response = await write(h, { ...session, ...(headers as Headers) });
      expect(response.status, JSON.stringify(headers)).toBe(403);
    }
    expect(await status(h, session)).toBe(200);
  });

  test.each([
    { Origin: "http://localhost" },
    { Origin: "https://localhost" },
    { Origin: "http://localhost:4000", "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "same-origin" },
  ])("writes with %j", async (headers) => {
    const h = await harness();
    const session = cookie(tokenOf(await h.as("owner")));
    expect((await write(h, { ...session, ...(headers as Headers) })).status).toBe(200);
    expect(await status(h, session)).toBe(401);
  });

  test.each([
    ["http://example.org:443", "https://example.org"],
    ["http://example.org:80", "https://example.org"],
    ["http://example.org", "https://example.org:443"],
  ])("writes to %s from a page of %s", async (address, Origin) => {
    const h = await harness();
    const headers = { ...cookie(tokenOf(await h.as("owner"))), Origin };
    expect((await h.request(`${address}/api/auth/sign-out`, { method: "POST", headers })).status).toBe(200);
  });

  test("is not asked for an Origin beside a bearer token", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    expect((await write(h, { ...owner, Origin: "https://elsewhere.example" })).status).toBe(200);
  });
});

describe("the addressed organization", () => {
  const keys = (slug: string) => `/api/organizations/${slug}/management-keys`;

  async function twoOrganizations() {
    const h = await harness();
    const other = await h.createOrganization("other");
    const headers = await h.as("viewer");
    const { user } = await (await h.request("/api/me", { headers })).json();
    await h.services.database.db
      .insert(members)
      .values({ organizationId: other.id, userId: user.id, roleKey: "owner" });
    return { h, headers };
  }

  test("is the path's, with the role held there", async () => {
    const { h, headers } = await twoOrganizations();
    expect(await status(h, headers, keys("other"))).toBe(200);
    expect(await status(h, headers, keys("acme"))).toBe(403);
    expect(await status(h, { ...headers, "X-Organization": "other" }, keys("other"))).toBe(200);
    expect(await status(h, { ...headers, "X-Organization": "acme" }, keys("other"))).toBe(404);
    expect(await status(h, headers, keys("%00"))).toBe(404);
    expect(await status(h, headers, keys("other'--"))).toBe(404);
  });

  test("is the header's, else the one joined first", async () => {
    const { h, headers } = await twoOrganizations();
    const create = async (extra: Headers) =>
      (await h.request("/api/instances", { method: "POST", headers: { ...headers, ...extra }, json: {} })).status;
    expect(await create({})).toBe(403);
    expect(await create({ "X-Organization": "acme" })).toBe(403);
    expect(await create({ "X-Organization": "other" })).toBe(400);
    expect(await create({ "X-Organization": "missing" })).toBe(404);
    expect(await create({ "X-Organization": "" })).toBe(404);
  });

  test("may be none: then nothing but the own account is there", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    await h.services.database.db.delete(members);
    const me = await h.request("/api/me", { headers });
    expect((await me.json()).user.organizations).toEqual([]);
    expect(await status(h, headers, "/api/instances")).toBe(403);
    expect(await status(h, headers, keys("acme"))).toBe(404);
  });

  test("gives a role that this release does not know no permission", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    await h.services.database.db.update(members).set({ roleKey: "constructor" });
    expect(await status(h, headers, "/api/instances")).toBe(403);
  });

  test("lets a member with such a role leave", async () => {
    const h = await harness();
    const headers = await h.as("viewer");
    const { db } = h.services.database;
    await db.update(members).set({ roleKey: "constructor" });
    const left = await h.request("/api/me/organizations/acme", { method: "DELETE", headers });
    expect([left.status, await db.select().from(members)]).toEqual([200, []]);
  });
});
