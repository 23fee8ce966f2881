import { asc, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { auditLogs, users } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { createUser, issueToken, join } from "./people.ts";

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
