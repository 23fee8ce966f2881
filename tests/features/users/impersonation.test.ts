import { asc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { editionOf, openEdition } from "../../../src/core/edition.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens, auditLogs, members, secrets, turns, users } from "../../../src/db/schema.ts";
import { secretPlace } from "../../../src/features/secrets/rules.ts";
import { harness, managedEdition } from "../../harness.ts";
import { createUser, issueToken, join, openSession, statusOf } from "../account/people.ts";

type Headers = Record<string, string>;

const reason = "Ticket 4711: agents are missing";

/** A managed installation with a Platform Admin and a person of acme, whom the admin may impersonate. */
async function administered() {
  const h = await harness({ edition: managedEdition });
  const headers = await h.asPlatformAdmin();
  const { db } = h.services.database;
  const [admin] = await db.select().from(users).where(eq(users.isPlatformAdmin, true));
  const person = await createUser(h, "ada@example.com", "member");
  const send = async (method: string, path: string, by: Headers, json?: object) => {
    const response = await h.request(path, { method, headers: by, ...(json ? { json } : {}) });
    const answer = await response.json();
    return { status: response.status, answer };
  };
  const start = (id = person.id, json: object = { reason }, by = headers) =>
    send("POST", `/api/users/${id}/impersonate`, by, json);
  const refused = async (...parameters: Parameters<typeof start>) => {
    const { status, answer } = await start(...parameters);
    return [status, answer.message];
  };
  const begin = async () => {
    const { answer } = await start();
    return { Authorization: `Bearer ${answer.token}` };
  };
  return { h, db, admin: admin?.id ?? "", headers, person, send, start, refused, begin };
}

test("an impersonation is the person's view for some minutes, and stops when told", async () => {
  const { h, db, admin, person, send, start } = await administered();
  const { status, answer } = await start();
  expect([status, answer.expiresAt]).toEqual([201, new Date(h.clock.now() + 30 * 60_000).toISOString()]);
  expect(answer.token).toMatch(/^aei_/);
  const [stored] = await db.select().from(accessTokens).where(eq(accessTokens.userId, person.id));
  expect(JSON.stringify(stored)).not.toContain(answer.token.slice(4));

  const headers = { Authorization: `Bearer ${answer.token}` };
  const { answer: me } = await send("GET", "/api/me", headers);
  expect(me).toMatchObject({
    isPlatformAdmin: false,
    impersonatedBy: { id: admin, name: "platform admin" },
    user: { email: person.email, organizations: [{ slug: "acme", roleKey: "member" }] },
  });
  expect((await send("GET", "/api/users", headers)).status).toBe(403);
  const { status: written, answer: refusal } = await send("PATCH", "/api/me", headers, { name: "Eve" });
  expect([written, refusal.message]).toEqual([403, "Impersonation is read-only"]);

  const own = await openSession(h, person.id);
  for (const by of [headers, own]) {
    expect(await send("POST", "/api/auth/stop-impersonating", by)).toEqual({ status: 200, answer: { success: true } });
  }
  expect([await statusOf(h, headers), await statusOf(h, own)]).toEqual([401, 200]);
});

test("start, each request and end are in the logs, with both persons", async () => {
  const { h, db, admin, person, send, begin } = await administered();
  const headers = await begin();
  await send("GET", "/api/instances?limit=1", headers);
  await send("DELETE", "/api/instances/none", headers);
  await send("POST", "/api/auth/stop-impersonating", headers);
  const rows = await db.select().from(auditLogs).where(eq(auditLogs.actorId, admin)).orderBy(asc(auditLogs.id));
  const acme = h.organization.id;
  expect(rows.map(({ action, target, organizationId }) => [action, target, organizationId])).toEqual([
    ["impersonation.start", person.email, null],
    ["impersonation.start", person.email, acme],
    ["impersonation.request", "GET /api/instances", acme],
    ["impersonation.request", "DELETE /api/instances/none", acme],
    ["access.refuse", "DELETE /api/instances/none", acme],
    ["impersonation.request", "POST /api/auth/stop-impersonating", acme],
    ["impersonation.end", person.email, null],
    ["impersonation.end", person.email, acme],
  ]);
  expect(rows[0]?.summary).toEqual({ reason, expiresAt: expect.any(String), userId: person.id });
  for (const { summary } of rows.slice(2)) expect(summary).toMatchObject({ user: { id: person.id, name: "Ada" } });
  expect(JSON.stringify(rows)).not.toContain("aei_");
});

test("it begins only by a Platform Admin's session, with a reason, for an active user who is none", async () => {
  const { h, db, admin, headers, person, refused } = await administered();
  const other = await createUser(h, "other@example.com");
  await db.update(users).set({ isPlatformAdmin: true }).where(eq(users.id, other.id));
  const inactive = await createUser(h, "inactive@example.com", "viewer");
  await db.update(users).set({ active: false }).where(eq(users.id, inactive.id));
  for (const id of [admin, other.id]) {
    expect(await refused(id)).toEqual([403, "A Platform Admin can't be impersonated"]);
  }
  expect(await refused(inactive.id)).toEqual([409, "The user is not active"]);
  expect(await refused(newId())).toEqual([404, "User not found"]);
  for (const json of [{}, { reason: "  too short  " }, { reason: "x".repeat(501) }]) {
    expect((await refused(person.id, json))[0]).toBe(400);
  }
  for (const minutes of [0, 61, 1.5, "30"]) expect((await refused(person.id, { reason, minutes }))[0]).toBe(400);
  expect((await refused(person.id, { reason }, await h.as("owner")))[0]).toBe(403);
  const token = await issueToken(h, admin);
  expect(await refused(person.id, { reason }, token.headers)).toEqual([
    403,
    "This route refuses tokens that work across organizations",
  ]);
  expect((await refused(person.id, { reason, minutes: 1 }, headers))[0]).toBe(201);
});

describe("it ends", () => {
  type Administered = Awaited<ReturnType<typeof administered>>;
  const set = ({ db }: Administered, id: string, change: Partial<typeof users.$inferInsert>) =>
    db.update(users).set(change).where(eq(users.id, id));
  const closeWith = ({ h }: Administered, edition: typeof openEdition) => {
    h.services.options.edition = edition;
  };

  test.each<[string, (w: Administered) => unknown]>([
    ["after its time", ({ h }) => h.clock.advance(30 * 60_000)],
    ["when the admin is a Platform Admin no more", (w) => set(w, w.admin, { isPlatformAdmin: false })],
    ["when the admin is inactive", (w) => set(w, w.admin, { active: false })],
    ["when the admin is deleted", ({ db, admin }) => db.delete(users).where(eq(users.id, admin))],
    ["when somebody else chooses the admin's password", (w) => set(w, w.admin, { passwordOrganization: newId() })],
    ["when the person becomes a Platform Admin", (w) => set(w, w.person.id, { isPlatformAdmin: true })],
    ["when the person is inactive", (w) => set(w, w.person.id, { active: false })],
    ["without the feature", (w) => closeWith(w, editionOf({ EDITION: "managed", FEATURES: ["channels"] }))],
    ["in the open edition", (w) => closeWith(w, openEdition)],
  ])("%s", async (_, change) => {
    const w = await administered();
    const headers = await w.begin();
    expect(await statusOf(w.h, headers)).toBe(200);
    await change(w);
    expect(await statusOf(w.h, headers)).toBe(401);
    expect((await w.send("POST", "/api/instances", headers, {})).status).toBe(401);
  });
});

test.each<[string, (w: Awaited<ReturnType<typeof administered>>) => Promise<unknown>]>([
  ["signs out", ({ send, headers }) => send("POST", "/api/auth/sign-out", headers)],
  ["signs out elsewhere", ({ send, headers }) => send("DELETE", "/api/me/sessions", headers)],
  [
    "is none for a while",
    async ({ h, db, admin }) => {
      const [user] = await db.select().from(users).where(eq(users.id, admin));
      await createUser(h, "other@example.com");
      await h.engine.changePlatformAdmin("other@example.com", true);
      for (const value of [false, true]) await h.engine.changePlatformAdmin(user?.email ?? "", value);
    },
  ],
  [
    "is inactive for a while",
    async ({ h, send, admin }) => {
      const by = await h.asPlatformAdmin();
      for (const active of [false, true]) await send("PATCH", `/api/users/${admin}`, by, { active });
    },
  ],
  [
    "gets a new password",
    async ({ h, send, admin }) =>
      send("POST", `/api/users/${admin}/password`, await h.asPlatformAdmin(), { password: "battery horse correct" }),
  ],
])("it ends for good when the admin %s", async (_, change) => {
  const w = await administered();
  const headers = await w.begin();
  await change(w);
  expect(await statusOf(w.h, headers)).toBe(401);
  const left = await w.db.select().from(accessTokens).where(eq(accessTokens.kind, "impersonation"));
  expect(left).toEqual([]);
});

test("it runs no turn, not even with an agent that everybody may ask", async () => {
  const { h, db, begin, send } = await administered();
  const agent = await h.agent();
  const open = { config: { requireAuthentication: false }, enabled: true };
  expect((await send("PUT", `/api/instances/${agent.slug}/channels/web`, agent.headers, open)).status).toBe(200);
  const headers = await begin();
  const json = { messages: [{ role: "user", content: "Hi" }] };
  for (const path of ["chat/stream", "playground/stream", "playground/chat/stream"]) {
    expect((await send("POST", `/api/instances/${agent.slug}/${path}`, headers, json)).status).toBe(403);
  }
  expect(await db.select().from(turns)).toEqual([]);
});

test("an agent's stored key that begins like an impersonation goes on working", async () => {
  const { h, db } = await administered();
  const { slug } = await h.agent();
  const key = `aei_${"k".repeat(30)}`;
  const [row] = await db.select().from(secrets).where(eq(secrets.key, "auth_api_key"));
  const sealed = await h.services.cipher.seal(key, secretPlace(row?.agentId ?? "", "auth_api_key"));
  await db.update(secrets).set(sealed).where(eq(secrets.key, "auth_api_key"));
  const response = await h.request(`/api/instances/${slug}/chat/stream`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}` },
    json: { messages: [{ role: "user", content: "Hi" }] },
  });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("event: done")]);
});

test("a person without an organization is seen too, in the installation's log", async () => {
  const { db, person, begin, send } = await administered();
  await db.delete(members).where(eq(members.userId, person.id));
  const headers = await begin();
  expect((await send("GET", "/api/me", headers)).answer.user.organizations).toEqual([]);
  expect((await send("POST", "/api/auth/stop-impersonating", headers)).status).toBe(200);
  const rows = await db.select().from(auditLogs).orderBy(asc(auditLogs.id));
  expect(rows.map(({ action, organizationId }) => [action, organizationId])).toEqual([
    ["impersonation.start", null],
    ["impersonation.request", null],
    ["impersonation.request", null],
    ["impersonation.end", null],
  ]);
});

test("one that begins while its admin signs out ends with the session", async () => {
  const { h, admin, send, start } = await administered();
  for (let round = 0; round < 6; round += 1) {
    const session = await openSession(h, admin);
    const [begun] = await Promise.all([
      start(undefined, undefined, session),
      send("POST", "/api/auth/sign-out", session),
    ]);
    expect([201, 401]).toContain(begun.status);
    if (begun.status === 201) expect(await statusOf(h, { Authorization: `Bearer ${begun.answer.token}` })).toBe(401);
  }
});

test("a refused write is in the log of the organization that its path names, reachable or not", async () => {
  const { h, db, person, send, begin } = await administered();
  const beta = await join(h, person.id, "beta", "owner");
  await h.createOrganization("gamma");
  const by = await begin();
  const refusal = async (path: string, headers: Headers = by) => {
    const { status, answer } = await send("POST", path, headers, {});
    return [status, answer.message];
  };
  expect(await refusal("/api/organizations/beta/members")).toEqual([403, "Impersonation is read-only"]);
  const rows = await db
    .select({ action: auditLogs.action })
    .from(auditLogs)
    .where(eq(auditLogs.organizationId, beta.id))
    .orderBy(asc(auditLogs.action));
  expect(rows.map(({ action }) => action)).toEqual(expect.arrayContaining(["access.refuse", "impersonation.request"]));
  const elsewhere = { ...by, "X-Organization": "gamma" };
  expect(await refusal("/api/instances", elsewhere)).toEqual([403, "Impersonation is read-only"]);
  expect(await refusal("/api/organizations/gamma/members")).toEqual([403, "Impersonation is read-only"]);
});
