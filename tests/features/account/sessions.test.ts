import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens, auditLogs } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { cookieOf, createUser, join, openSession, password, signIn, statusOf } from "./people.ts";

type Headers = Record<string, string>;

const day = 24 * 60 * 60_000;
const email = "ada@example.com";

const list = async (h: Harness, headers: Headers) =>
  (await (await h.request("/api/me/sessions", { headers })).json()).sessions;
const end = (h: Harness, headers: Headers, id?: string) =>
  h.request(`/api/me/sessions${id === undefined ? "" : `/${id}`}`, { method: "DELETE", headers });
const currentId = async (h: Harness, headers: Headers): Promise<string> =>
  (await list(h, headers)).find(({ current }: { current: boolean }) => current).id;

/** Ada with two sessions, and Bob with one. */
async function people() {
  const h = await harness();
  const ada = await createUser(h, email);
  const bob = await createUser(h, "bob@example.com");
  const first = await openSession(h, ada.id, "first");
  await h.clock.advance(1000);
  return { h, ada, first, second: await openSession(h, ada.id, "second"), bobs: await openSession(h, bob.id) };
}

describe("the list", () => {
  test("has the user's live sessions, the newest first, and never a token", async () => {
    const { h, ada, first } = await people();
    const response = await h.request("/api/me/sessions", { headers: first });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      sessions: [
        {
          id: expect.any(String),
          current: false,
          ip: "192.0.2.1",
          userAgent: "second",
          createdAt: "2026-01-01T00:00:01.000Z",
          lastUsedAt: "2026-01-01T00:00:01.000Z",
          expiresAt: "2026-01-31T00:00:01.000Z",
        },
        expect.objectContaining({ current: true, userAgent: "first", createdAt: "2026-01-01T00:00:00.000Z" }),
      ],
    });
    expect(text).not.toMatch(/aes_|digest/);
    await h.services.database.query("update access_tokens set ip = null, user_agent = null where user_id = $1", [
      ada.id,
    ]);
    expect(await list(h, first)).toMatchObject([{ ip: "", userAgent: "" }, {}]);
  });

  test("leaves out what has expired, which can't be ended either", async () => {
    const { h, first, second } = await people();
    const expired = await currentId(h, second);
    await h.clock.advance(29 * day);
    expect(await statusOf(h, first)).toBe(200);
    await h.clock.advance(day);
    expect(await statusOf(h, second)).toBe(401);
    expect(await list(h, first)).toMatchObject([{ current: true }]);
    expect((await end(h, first, expired)).status).toBe(404);
    expect(await (await end(h, first)).json()).toEqual({ deleted: true, count: 0 });
  });

  test("stores a user agent that PostgreSQL could not, and cuts a long one", async () => {
    const { h, ada } = await people();
    const headers = await openSession(h, ada.id, `a\u0000\ud800${"x".repeat(600)}`);
    expect((await list(h, headers))[0].userAgent).toBe(`a\ufffd${"x".repeat(510)}`);
  });
});

test.each([
  ["ending the others", "DELETE", "/api/me/sessions", undefined],
  ["another password", "POST", "/api/me/password", { currentPassword: password, newPassword: `${password}!` }],
])("%s ends those that have expired, too: a clock that is ahead may be set back", async (_deed, method, path, json) => {
  const { h, ada, first, bobs } = await people();
  await h.clock.jump(40 * day);
  const third = await openSession(h, ada.id);
  expect((await h.request(path, { method, headers: third, ...(json && { json }) })).status).toBe(200);
  h.clock.setBack(40 * day);
  expect(await Promise.all([first, bobs, third].map((headers) => statusOf(h, headers)))).toEqual([401, 200, 200]);
});

describe("ending one", () => {
  test("ends that one at once and keeps the others and the cookie", async () => {
    const { h, first, second, bobs } = await people();
    const response = await end(h, first, await currentId(h, second));
    expect([response.status, await response.json()]).toEqual([200, { deleted: true }]);
    expect(response.headers.get("Set-Cookie")).toBeNull();
    expect(await statusOf(h, second)).toBe(401);
    expect(await Promise.all([first, bobs].map((headers) => statusOf(h, headers)))).toEqual([200, 200]);
  });

  test("of the call itself signs out and clears the cookie", async () => {
    const { h, second } = await people();
    const cookie = { Cookie: cookieOf(await signIn(h, { email, password })), Origin: "http://localhost:4000" };
    const response = await end(h, cookie, (await currentId(h, cookie)).toUpperCase());
    expect(response.status).toBe(200);
    expect(response.headers.get("Set-Cookie")).toMatch(/^agent_engine\.session_token=; Max-Age=0/);
    expect(await statusOf(h, cookie)).toBe(401);
    expect(await statusOf(h, second)).toBe(200);
  });

  test("is refused for another user's, and reveals nothing of it", async () => {
    const { h, first, bobs } = await people();
    const { key } = await (
      await h.request("/api/organizations/acme/management-keys", {
        method: "POST",
        headers: first,
        json: { name: "k" },
      })
    ).json();
    const [managementKey] = await h.services.database.db
      .select({ id: accessTokens.id })
      .from(accessTokens)
      .where(eq(accessTokens.kind, "management"));
    const ids = [await currentId(h, bobs), managementKey?.id ?? "", newId(), "1", "%00", "..%2f..", "' or 1=1 --"];
    const answers = await Promise.all(
      ids.map(async (id) => {
        const response = await end(h, first, id);
        return [response.status, await response.text()];
      }),
    );
    const missing = JSON.stringify({ statusCode: 404, message: "Session not found", error: "Not Found" });
    expect(answers).toEqual(ids.map(() => [404, missing]));
    expect(await statusOf(h, bobs)).toBe(200);
    expect((await h.request("/api/instances", { headers: { Authorization: `Bearer ${key}` } })).status).toBe(200);
  });
});

describe("ending the others", () => {
  test("keeps the one of the call, and everybody else's", async () => {
    const { h, ada, first, second, bobs } = await people();
    const third = await openSession(h, ada.id);
    const response = await end(h, second);
    expect([response.status, await response.json()]).toEqual([200, { deleted: true, count: 2 }]);
    expect(response.headers.get("Set-Cookie")).toBeNull();
    const statuses = await Promise.all([first, second, third, bobs].map((headers) => statusOf(h, headers)));
    expect(statuses).toEqual([401, 200, 401, 200]);
  });

  test("at the same time from all of them answers each, and a server error none", async () => {
    const { h, ada, first, second } = await people();
    const sessions = [first, second, await openSession(h, ada.id), await openSession(h, ada.id)];
    const answers = await Promise.all(sessions.map(async (headers) => (await end(h, headers)).status));
    for (const status of answers) expect([200, 401]).toContain(status);
    expect(answers).toContain(200);
  });
});

test("endings are in the log of every organization of the user", async () => {
  const { h, ada, first, second } = await people();
  const lab = await join(h, ada.id, "lab");
  await h.createOrganization("foreign");
  const third = await openSession(h, ada.id);
  await end(h, first, await currentId(h, second));
  await end(h, first);
  await end(h, first);
  await h.request("/api/auth/sign-out", { method: "POST", headers: first });
  expect(await statusOf(h, third)).toBe(401);

  const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
  for (const { id } of [h.organization, lab]) {
    const own = entries.filter(({ organizationId }) => organizationId === id);
    expect(own.map(({ summary }) => summary)).toEqual([
      { ended: 1, current: false },
      { ended: 1, current: false },
      { ended: 1, current: true },
    ]);
    const ip = id === lab.id ? "" : "192.0.2.1";
    for (const entry of own) expect(entry).toMatchObject({ action: "session.end", actorId: ada.id, target: email, ip });
  }
  expect(entries).toHaveLength(6);
});

test("a management key has no sessions to show, to end, or to choose an organization for", async () => {
  const { h, first } = await people();
  const made = await h.request("/api/organizations/acme/management-keys", {
    method: "POST",
    headers: first,
    json: { name: "CI" },
  });
  const headers = { Authorization: `Bearer ${(await made.json()).key}` };
  const answers = await Promise.all([
    h.request("/api/me/sessions", { headers }),
    end(h, headers),
    end(h, headers, await currentId(h, first)),
    h.request("/api/me/organization", { method: "PUT", headers, json: { slug: "acme" } }),
    h.request("/api/me/onboarding", { method: "PATCH", headers, json: { a: 1 } }),
    h.request("/api/me/password", { method: "POST", headers, json: { currentPassword: password, newPassword: "x" } }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
});
