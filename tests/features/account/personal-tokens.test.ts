import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { accessTokens, auditLogs, members, users } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { createUser, issueToken, join, openSession } from "./people.ts";

const managed = () => harness({ edition: managedEdition });

/** Status and message of an answer; the message is undefined for a success. */
async function answerOf(h: Harness, route: string, headers: Record<string, string>, json: unknown = {}) {
  const [method = "", path = ""] = route.split(" ");
  const body = method === "GET" || method === "DELETE" ? {} : { json };
  const response = await h.request(path, { method, headers, ...body });
  return [response.status, (await response.json()).message];
}

const platformAdmin = async (h: Harness) => {
  const user = await createUser(h, "root@example.com");
  await h.services.database.db.update(users).set({ isPlatformAdmin: true }).where(eq(users.id, user.id));
  return user;
};

const crossing = "This route refuses tokens that work across organizations";
const sessionNeeded = "This route needs a signed-in session";

test("a token has its holder's role in its organization, as far as its permissions go, and reaches no other", async () => {
  const h = await managed();
  const ada = await createUser(h, "ada@example.com", "admin");
  const lab = await join(h, ada.id, "lab", "owner");
  const { headers } = await issueToken(h, ada.id, { organizationId: lab.id });
  const narrow = await issueToken(h, ada.id, { organizationId: lab.id, permissions: ["agent:read", "policy:manage"] });
  expect(await answerOf(h, "GET /api/organizations/lab/members", headers)).toEqual([200, undefined]);
  expect(await answerOf(h, "GET /api/organizations/lab/members", narrow.headers)).toEqual([
    403,
    "Missing permission: org:read",
  ]);
  expect(await answerOf(h, "GET /api/instances", narrow.headers)).toEqual([200, undefined]);
  for (const one of [headers, narrow.headers]) {
    expect(await answerOf(h, "GET /api/organizations/acme/members", one)).toEqual([404, "Organization not found"]);
    expect(await answerOf(h, "GET /api/me", one)).toEqual([403, sessionNeeded]);
    expect(await answerOf(h, "GET /api/installation/policies", one)).toEqual([403, sessionNeeded]);
  }
});

test("the token of a Platform Admin for one organization has the role there and nothing of the Platform Admin", async () => {
  const h = await managed();
  const admin = await platformAdmin(h);
  const lab = await join(h, admin.id, "lab", "viewer");
  const outside = await h.createOrganization("outside");
  const { headers } = await issueToken(h, admin.id, { organizationId: lab.id });
  expect(await answerOf(h, "GET /api/instances", headers)).toEqual([200, undefined]);
  expect(await answerOf(h, "POST /api/instances", headers, { slug: "x" })).toEqual([
    403,
    "Missing permission: agent:write",
  ]);
  const elsewhere = await issueToken(h, admin.id, { organizationId: outside.id });
  expect((await answerOf(h, "GET /api/instances", elsewhere.headers))[0]).toBe(403);
});

test("a token across organizations names the organization, and is refused on routes that are too much for it", async () => {
  const h = await managed();
  await h.createOrganization("lab");
  const admin = await platformAdmin(h);
  const { headers } = await issueToken(h, admin.id);
  const inLab = { ...headers, "X-Organization": "lab" };
  expect(await answerOf(h, "GET /api/instances", inLab)).toEqual([200, undefined]);
  expect(await answerOf(h, "GET /api/organizations/lab/members", headers)).toEqual([200, undefined]);
  expect(await answerOf(h, "GET /api/instances", headers)).toEqual([400, "X-Organization: must name the organization"]);
  const member = "/api/organizations/lab/members";
  const newMember = { email: "eve@example.com", roleKey: "viewer" };
  for (const route of [
    ...["GET /api/me", "GET /api/me/sessions", "GET /api/installation/policies", "GET /api/installation/mail-relay"],
    ...[`POST ${member}`, `PUT ${member}/x`, `DELETE ${member}/x`, `POST ${member}/x/password`],
    ...[`DELETE ${member}/x/sessions`, "DELETE /api/installation/mail-relay", "POST /api/organizations"],
    "POST /api/instances/x/playground/stream",
  ]) {
    expect([route, ...(await answerOf(h, route, inLab, newMember))]).toEqual([route, 403, crossing]);
  }
});

test("each use of a token across organizations is in the log of the addressed organization", async () => {
  const h = await managed();
  const lab = await h.createOrganization("lab");
  const admin = await platformAdmin(h);
  const { headers, id } = await issueToken(h, admin.id);
  await answerOf(h, "GET /api/instances", { ...headers, "X-Organization": "lab" });
  await answerOf(h, "POST /api/organizations/lab/workspaces", headers, { name: "den" });
  await answerOf(h, "GET /api/instances", headers);
  await answerOf(h, "GET /api/instances", { ...headers, "X-Organization": "nowhere" });
  const entries = await h.services.database.db
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.actorId, admin.id))
    .orderBy(asc(auditLogs.createdAt), asc(auditLogs.id));
  const token = { id, name: "CI" };
  expect(
    entries.map(({ action, target, organizationId, summary }) => [action, target, organizationId, summary.token]),
  ).toEqual([
    ["token.use", "GET /api/instances", lab.id, token],
    ["token.use", "POST /api/organizations/lab/workspaces", lab.id, token],
    ["workspace.create", "den", lab.id, token],
    ["token.use", "GET /api/instances", null, token],
    ["token.use", "GET /api/instances", null, token],
  ]);
});

test("a token works only with the feature, and one across organizations only while its holder is a Platform Admin", async () => {
  const h = await managed();
  const { db } = h.services.database;
  const admin = await platformAdmin(h);
  await h.asPlatformAdmin();
  const own = await issueToken(h, admin.id, { organizationId: h.organization.id });
  const across = await issueToken(h, admin.id);
  const inAcme = { "X-Organization": "acme" };
  const statuses = async (request: Harness["request"] = h.request) =>
    Promise.all(
      [own, across].map(
        async ({ headers }) => (await request("/api/instances", { headers: { ...headers, ...inAcme } })).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200]);
  const { app } = createEngine({ ...h.services, options: { ...h.services.options, edition: openEdition } });
  expect(await statuses(async (path, init) => app.request(path, init, { remoteAddress: "192.0.2.1" }))).toEqual([
    401, 401,
  ]);
  for (const change of [
    { isPlatformAdmin: false },
    { isPlatformAdmin: true, passwordOrganization: h.organization.id },
  ]) {
    await db.update(users).set(change).where(eq(users.id, admin.id));
    expect(await statuses()).toEqual([200, 401]);
  }
  await db.update(users).set({ active: false }).where(eq(users.id, admin.id));
  expect(await statuses()).toEqual([401, 401]);
});

test("an impersonation has the rights of a person who is no Platform Admin, while its creator is one", async () => {
  const h = await managed();
  const { db } = h.services.database;
  const [admin, ada] = [await platformAdmin(h), await createUser(h, "ada@example.com", "viewer")];
  const { headers } = await issueToken(h, ada.id, { kind: "impersonation", createdBy: admin.id });
  const status = async () => (await h.request("/api/instances", { headers })).status;
  const set = (id: string, isPlatformAdmin: boolean) =>
    db.update(users).set({ isPlatformAdmin }).where(eq(users.id, id));
  expect(await status()).toBe(200);
  await set(ada.id, true);
  expect(await status()).toBe(401);
  await set(ada.id, false);
  await set(admin.id, false);
  expect(await status()).toBe(401);
  const nobody = await issueToken(h, ada.id, { kind: "impersonation" });
  expect((await h.request("/api/instances", { headers: nobody.headers })).status).toBe(401);
});

const path = "/api/me/tokens";

const create = async (h: Harness, headers: Record<string, string>, json: object = {}) => {
  const response = await h.request(path, { method: "POST", headers, json: { name: "CI", ...json } });
  return { status: response.status, body: await response.json() };
};

const inDays = ({ clock }: Harness, days: number) => new Date(clock.now() + days * 86_400_000).toISOString();

test("a token is shown once, listed without itself, and stops working once it is deleted", async () => {
  const h = await managed();
  const ada = await createUser(h, "ada@example.com", "member");
  const headers = await openSession(h, ada.id);
  const { status, body } = await create(h, headers, { name: " Export ", permissions: ["agent:read", "agent:read"] });
  expect([status, body]).toEqual([
    201,
    {
      ...{ id: expect.any(String), name: "Export", scope: "organization", permissions: ["agent:read"] },
      organization: { slug: "acme", name: "acme" },
      token: expect.stringMatching(/^aep_[\w-]{43}$/),
      prefix: body.token.slice(0, 10),
      expiresAt: inDays(h, 90),
      createdAt: inDays(h, 0),
    },
  ]);
  const { token, ...shown } = body;
  const bearer = { Authorization: `Bearer ${token}` };
  const list = async () => (await (await h.request(path, { headers })).json()).tokens;
  expect(await list()).toEqual([{ ...shown, lastUsedAt: null }]);
  expect(await answerOf(h, "GET /api/instances", bearer)).toEqual([200, undefined]);
  expect(await list()).toEqual([{ ...shown, lastUsedAt: inDays(h, 0) }]);
  const cookie = { Cookie: `agent_engine.session_token=${token}` };
  expect((await answerOf(h, "GET /api/instances", cookie))[0]).toBe(401);

  const bob = await openSession(h, (await createUser(h, "bob@example.com")).id);
  expect(await answerOf(h, `DELETE ${path}/${shown.id}`, bob)).toEqual([404, "Token not found"]);
  expect(await answerOf(h, `DELETE ${path}/nothing`, headers)).toEqual([404, "Token not found"]);
  expect(await answerOf(h, `DELETE ${path}/${shown.id}`, headers)).toEqual([200, undefined]);
  expect((await answerOf(h, "GET /api/instances", bearer))[0]).toBe(401);
  expect(await list()).toEqual([]);

  const { db } = h.services.database;
  const entries = await db.select().from(auditLogs).orderBy(asc(auditLogs.createdAt), asc(auditLogs.id));
  expect(entries.map(({ action, target, organizationId }) => [action, target, organizationId])).toEqual([
    ["token.create", "Export", h.organization.id],
    ["token.delete", "Export", h.organization.id],
  ]);
  const everything = JSON.stringify([entries, await db.select().from(accessTokens), h.logs]);
  expect(everything).not.toContain(token);
});

test.each([
  [{ name: "" }, "name: must not be empty"],
  [{ name: "x".repeat(65) }, /^name: /],
  [{ expiresAt: "tomorrow" }, /^expiresAt: must be an ISO 8601/],
  [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt: must be in the future"],
  [{ expiresAt: "9999-01-01T00:00:00Z" }, "expiresAt: must be within 365 days"],
  [{ expiresAt: "9999-01-01T00:00:00Z", scope: "installation" }, "expiresAt: must be within 24 hours"],
  [{ scope: "everything" }, /^scope: /],
  [{ permissions: ["agent:fly"] }, /^permissions\.0: /],
])("%j is a 400", async (json, message) => {
  const h = await managed();
  const { status, body } = await create(h, await h.as("owner"), json);
  expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
});

test("a token lives for 365 days at most, and then goes from the list and the database", async () => {
  const h = await managed();
  const headers = await h.as("owner");
  const { status, body } = await create(h, headers, { expiresAt: inDays(h, 365) });
  expect([status, body.expiresAt]).toEqual([201, inDays(h, 365)]);
  h.clock.advance(365 * 86_400_000);
  const again = await h.as("owner");
  expect((await answerOf(h, "GET /api/instances", { Authorization: `Bearer ${body.token}` }))[0]).toBe(401);
  expect((await (await h.request(path, { headers: again })).json()).tokens).toEqual([]);
  const { db } = h.services.database;
  const kept = () => db.$count(accessTokens, eq(accessTokens.kind, "personal"));
  expect(await kept()).toBe(1);
  await db
    .update(accessTokens)
    .set({ expiresAt: new Date("2020-01-01") })
    .where(eq(accessTokens.id, body.id));
  await h.engine.tick();
  expect(await kept()).toBe(0);
});

test("a user has at most 20 tokens, whatever is created at once", async () => {
  const h = await managed();
  const headers = await h.as("viewer");
  for (let number = 0; number < 18; number += 1) expect((await create(h, headers)).status).toBe(201);
  const made = await Promise.all([1, 2, 3, 4].map(() => create(h, headers)));
  expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
  const refused = made.find(({ status }) => status === 409);
  expect(refused?.body.message).toBe("You have 20 personal tokens: delete one first");
  expect((await create(h, await h.as("viewer"))).status).toBe(201);
});

test("only a Platform Admin creates a token across organizations, which lives for a day and ends with the flag", async () => {
  const h = await managed();
  const admin = await platformAdmin(h);
  await h.asPlatformAdmin();
  const refused = await create(h, await h.as("owner"), { scope: "installation" });
  expect([refused.status, refused.body.message]).toEqual([
    403,
    "Only a Platform Admin may create a token that works across organizations",
  ]);
  const { body } = await create(h, await openSession(h, admin.id), { scope: "installation" });
  expect([body.organization, body.expiresAt]).toEqual([null, inDays(h, 1)]);
  const bearer = { Authorization: `Bearer ${body.token}`, "X-Organization": "acme" };
  expect((await answerOf(h, "GET /api/instances", bearer))[0]).toBe(200);
  await h.engine.changePlatformAdmin(admin.email, false);
  await h.engine.changePlatformAdmin(admin.email, true);
  expect((await answerOf(h, "GET /api/instances", bearer))[0]).toBe(401);
  const { db } = h.services.database;
  const [entry] = await db.select().from(auditLogs).where(eq(auditLogs.action, "token.create"));
  expect(entry).toMatchObject({ organizationId: null, actorId: admin.id, summary: { scope: "installation" } });
});

test("a token needs a membership: a Platform Admin who is no member, and a person of no organization, get none", async () => {
  const h = await managed();
  const ofNone = await create(h, await h.asPlatformAdmin());
  const reason = "a token has its holder's role there";
  expect([ofNone.status, ofNone.body.message]).toEqual([409, `You are no member of the organization acme: ${reason}`]);
  const ada = await createUser(h, "ada@example.com");
  await h.services.database.db.delete(members).where(eq(members.userId, ada.id));
  const lone = await create(h, await openSession(h, ada.id));
  expect([lone.status, lone.body.message]).toEqual([409, `You belong to no organization: ${reason}`]);
});

test("a token ends with the membership, and joining again does not revive it", async () => {
  const h = await managed();
  const ada = await createUser(h, "ada@example.com", "member");
  const lab = await join(h, ada.id, "lab");
  const session = await openSession(h, ada.id);
  const [here, there] = [await create(h, session), await create(h, { ...session, "X-Organization": "lab" })];
  expect([here.body.organization.slug, there.body.organization.slug]).toEqual(["acme", "lab"]);
  const owner = await h.as("owner");
  expect((await answerOf(h, `DELETE /api/organizations/acme/members/${ada.id}`, owner))[0]).toBe(200);
  const membership = { organizationId: h.organization.id, userId: ada.id, roleKey: "member" };
  await h.services.database.db.insert(members).values(membership);
  const status = async ({ body }: typeof here) =>
    (await answerOf(h, "GET /api/instances", { Authorization: `Bearer ${body.token}` }))[0];
  expect([await status(here), await status(there)]).toEqual([401, 200]);
  await h.services.database.db.update(members).set({ roleKey: "guest" }).where(eq(members.organizationId, lab.id));
  expect(await status(there)).toBe(403);
});

test("nobody who knows another's password leaves a token behind", async () => {
  const h = await managed();
  const owner = await h.as("owner");
  const ada = await createUser(h, "ada@example.com", "member");
  const { body } = await create(h, await openSession(h, ada.id));
  const renewed = await h.request(`/api/organizations/acme/members/${ada.id}/password`, {
    method: "POST",
    headers: owner,
  });
  expect(renewed.status).toBe(201);
  expect((await answerOf(h, "GET /api/instances", { Authorization: `Bearer ${body.token}` }))[0]).toBe(401);
  const refused = await create(h, await openSession(h, ada.id));
  expect([refused.status, refused.body.message]).toEqual([
    409,
    "Somebody else chose your password: choose another one first",
  ]);
});

test("a token for one organization lists no other organization of its holder", async () => {
  const h = await harness({ edition: managedEdition });
  const person = await createUser(h, "ada@example.com", "member");
  await join(h, person.id, "other", "owner");
  const { headers } = await issueToken(h, person.id, { organizationId: h.organization.id, permissions: ["org:read"] });
  const { organizations } = await (await h.request("/api/organizations", { headers })).json();
  expect(organizations.map(({ slug }: { slug: string }) => slug)).toEqual(["acme"]);
});
