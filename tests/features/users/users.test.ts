import { asc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { newId } from "../../../src/core/ids.ts";
import {
  accessTokens,
  auditLogs,
  invitations,
  members,
  oneTimeTokens,
  organizations,
  users,
} from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { createUser, join, openSession, password, signIn, statusOf } from "../account/people.ts";

type Headers = Record<string, string>;

/** A managed installation with a Platform Admin, and calls of `/api/users` by that admin. */
async function administered() {
  const h = await harness({ edition: managedEdition });
  const headers = await h.asPlatformAdmin();
  const { user: admin } = (await (await h.request("/api/me", { headers })).json()) as { user: { id: string } };
  const call = async (method: string, path = "", json?: object, by: Headers = headers) => {
    const init = { method, headers: by, ...(json ? { json } : {}) };
    const response = await h.request(`/api/users${path}`, init);
    return [response.status, await response.json()] as const;
  };
  const message = async (method: string, path: string, json?: object) => {
    const [status, answer] = await call(method, path, json);
    return [status, answer.message];
  };
  const { db } = h.services.database;
  return { h, db, admin: admin.id, headers, call, message };
}

/** A link to reset the user's password, unused. */
async function resetLink({ services }: Harness, userId: string) {
  const link = { id: newId(), kind: "reset", digest: new TextEncoder().encode(newId()), payload: { userId } };
  await services.database.db.insert(oneTimeTokens).values({ ...link, expiresAt: new Date("2999-01-01") });
}

const linksOf = async ({ services }: Harness) => (await services.database.db.select().from(oneTimeTokens)).length;

describe("a Platform Admin", () => {
  test("creates a user, who signs in and is asked for another password", async () => {
    const { h, call } = await administered();
    const [status, { user }] = await call("POST", "", { email: "Ada@Example.com", password });
    expect(status).toBe(201);
    const account = { id: expect.any(String), email: "ada@example.com", name: "ada" };
    expect(user).toEqual({ ...account, isPlatformAdmin: false, active: true, organizations: [] });
    expect(await call("GET", `/${user.id}`)).toEqual([200, { user }]);
    const { token } = await (await signIn(h, { email: "ada@example.com", password })).json();
    const me = await (await h.request("/api/me", { headers: { Authorization: `Bearer ${token}` } })).json();
    expect(me).toMatchObject({ user: { passwordChangeRequired: true, organizations: [] } });
  });

  test("reads pages of users by e-mail, with their organizations, and searches e-mails and names", async () => {
    const { h, db, call } = await administered();
    const ada = await createUser(h, "ada@example.com", "admin");
    await join(h, ada.id, "lab", "owner");
    await join(h, ada.id, "deleted", "owner");
    await db.update(organizations).set({ deletedAt: new Date() }).where(eq(organizations.slug, "deleted"));
    const bob = await createUser(h, "bob_1@example.com", "viewer");
    await db.update(users).set({ name: "Robert Ångström" }).where(eq(users.id, bob.id));

    const [, first] = await call("GET", "?limit=2");
    expect(first).toMatchObject({ total: 3, limit: 2, offset: 0 });
    const listed = first.users.map(({ email }: { email: string }) => email);
    expect(listed).toEqual(["ada@example.com", expect.stringMatching(/^admin-/)]);
    const [, found] = await call("GET", "?search=ADA%40");
    expect(found).toMatchObject({ total: 1 });
    expect(found.users[0].organizations).toEqual([
      { slug: "acme", name: "acme", roleKey: "admin" },
      { slug: "lab", name: "lab", roleKey: "owner" },
    ]);
    const emails = async (search: string) => {
      const [, page] = await call("GET", `?search=${encodeURIComponent(search)}`);
      return page.users.map(({ email }: { email: string }) => email);
    };
    expect(await emails("Ångström")).toEqual([bob.email]);
    expect(await emails("B_1")).toEqual([bob.email]);
    expect(await emails("b%1")).toEqual([]);
    expect((await call("GET", "?offset=3"))[1]).toMatchObject({ users: [], total: 3 });
  });

  test("changes a user, with the changes in the installation's log and in the logs of the user's organizations", async () => {
    const { h, db, admin, call } = await administered();
    const { id } = await createUser(h, "ada@example.com", "viewer");
    const lab = await join(h, id, "lab");
    const json = { email: " Grace@Example.com", name: "Grace", isPlatformAdmin: true };
    const [status, { user }] = await call("PATCH", `/${id}`, json);
    expect(status).toBe(200);
    expect(user).toMatchObject({ email: "grace@example.com", name: "Grace", isPlatformAdmin: true, active: true });
    // Neither of these changes anything.
    await call("PATCH", `/${id}`, { email: "GRACE@example.com", active: true });
    await call("PATCH", `/${id}`, {});
    const entries = await db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.action, "user.update"))
      .orderBy(asc(auditLogs.id));
    expect(entries.map(({ organizationId }) => organizationId)).toEqual([null, h.organization.id, lab.id]);
    for (const entry of entries) {
      expect(entry).toMatchObject({ actorId: admin, target: "ada@example.com" });
      expect(entry.summary).toEqual({
        userId: id,
        changes: {
          email: { from: "ada@example.com", to: "grace@example.com" },
          name: { from: "Ada", to: "Grace" },
          isPlatformAdmin: { from: false, to: true },
        },
      });
    }
  });

  test("is refused a taken e-mail and an unknown user", async () => {
    const { h, call, message } = await administered();
    await createUser(h, "ada@example.com");
    const { id } = await createUser(h, "bob@example.com");
    const taken = [409, "The e-mail ada@example.com has an account already"];
    expect(await message("POST", "", { email: "ADA@example.com", password })).toEqual(taken);
    expect(await message("PATCH", `/${id}`, { email: "Ada@example.com" })).toEqual(taken);
    for (const unknown of [newId(), "nobody", "..%2F..%2Fme"]) {
      for (const [method, path, json] of [
        ["GET", "", undefined],
        ["PATCH", "", { name: "Eve" }],
        ["DELETE", "", undefined],
        ["POST", "/password", { password }],
      ] as const) {
        expect(await message(method, `/${unknown}${path}`, json)).toEqual([404, "User not found"]);
      }
    }
    expect((await call("GET", `/${id}`))[1].user.email).toBe("bob@example.com");
  });
});

describe("a password that a Platform Admin sets", () => {
  test.each([
    ["POST", "/password", "password.reset"],
    ["PATCH", "", "user.update"],
  ])("by %s …%s ends sessions and links, and opens every organization of the user", async (method, path, action) => {
    const { h, db, call, admin } = await administered();
    const { id, email } = await createUser(h, "ada@example.com", "viewer");
    await join(h, id, "lab");
    // As after a password that an Admin of acme renewed: it reaches acme alone.
    await db
      .update(users)
      .set({ passwordSetBy: newId(), passwordOrganization: h.organization.id })
      .where(eq(users.id, id));
    const session = await openSession(h, id);
    await resetLink(h, id);
    const [status, { user }] = await call(method, `/${id}${path}`, { password: "battery horse correct" });
    expect([status, user.email]).toEqual([200, email]);
    expect(await statusOf(h, session)).toBe(401);
    expect(await linksOf(h)).toBe(0);
    expect((await signIn(h, { email, password })).status).toBe(401);
    const { token } = await (await signIn(h, { email, password: "battery horse correct" })).json();
    const me = await (await h.request("/api/me", { headers: { Authorization: `Bearer ${token}` } })).json();
    expect(me.user.passwordChangeRequired).toBe(true);
    expect(me.user.organizations).toHaveLength(2);
    const entries = await db.select().from(auditLogs).where(eq(auditLogs.actorId, admin)).orderBy(asc(auditLogs.id));
    expect(entries.map((entry) => entry.action)).toEqual([action, action, action]);
    expect(JSON.stringify(entries)).not.toContain("battery");
  });

  test("is not the admin's own, whose current password protects it", async () => {
    const { admin, message } = await administered();
    const refused = [409, "This is your own account: use /api/me/password"];
    for (const id of [admin, admin.toUpperCase()]) {
      expect(await message("POST", `/${id}/password`, { password })).toEqual(refused);
      expect(await message("PATCH", `/${id}`, { password })).toEqual(refused);
    }
  });

  test("lets the flag follow in the same call, where somebody else had chosen the password", async () => {
    const { h, db, call, message } = await administered();
    const { id } = await createUser(h, "ada@example.com");
    await db
      .update(users)
      .set({ passwordSetBy: newId(), passwordOrganization: h.organization.id })
      .where(eq(users.id, id));
    const json = { isPlatformAdmin: true };
    expect(await message("PATCH", `/${id}`, json)).toEqual([
      409,
      "Somebody else chose the password of the account: its holder must first choose another one",
    ]);
    expect((await call("PATCH", `/${id}`, { ...json, password }))[0]).toBe(200);
  });
});

test("another e-mail ends the links to reset the password", async () => {
  const { h, call } = await administered();
  const { id } = await createUser(h, "ada@example.com");
  const { id: other } = await createUser(h, "bob@example.com");
  await resetLink(h, id);
  await resetLink(h, other);
  await call("PATCH", `/${id}`, { name: "Grace" });
  expect(await linksOf(h)).toBe(2);
  await call("PATCH", `/${id}`, { email: "grace@example.com" });
  expect(await linksOf(h)).toBe(1);
});

describe("an inactive user", () => {
  test("loses sessions and tokens, which do not come back, and signs in only once active again", async () => {
    const { h, db, call } = await administered();
    await createUser(h, "owner@example.com");
    const { id, email } = await createUser(h, "ada@example.com");
    const session = await openSession(h, id);
    const invitee = await createUser(h, "guest@example.com");
    const { id: organizationId } = await h.createOrganization("lab");
    const offer = { organizationId, userId: invitee.id, roleKey: "viewer", invitedByUser: id };
    await db.insert(invitations).values({ ...offer, id: newId(), expiresAt: new Date("2999-01-01") });
    const personal = { id: newId(), kind: "personal" as const, userId: id, digest: new TextEncoder().encode("x") };
    await db.insert(accessTokens).values(personal);
    expect((await call("PATCH", `/${id}`, { active: false }))[1].user.active).toBe(false);
    expect(await db.select().from(accessTokens).where(eq(accessTokens.userId, id))).toEqual([]);
    expect(await db.select().from(invitations)).toEqual([]);
    const refused = await signIn(h, { email, password });
    expect([refused.status, (await refused.json()).message]).toEqual([401, "Wrong e-mail or password"]);
    await call("PATCH", `/${id}`, { active: true });
    expect(await statusOf(h, session)).toBe(401);
    expect((await signIn(h, { email, password })).status).toBe(200);
  });

  test("stays so where the feature is off", async () => {
    const { h, call } = await administered();
    await createUser(h, "owner@example.com");
    const { id, email } = await createUser(h, "ada@example.com");
    await call("PATCH", `/${id}`, { active: false });
    const open = createEngine({ ...h.services, options: { ...h.services.options, edition: openEdition } });
    const init = { method: "POST", body: JSON.stringify({ email, password }) };
    const response = await open.app.request(
      "/api/auth/sign-in/email",
      { ...init, headers: { "Content-Type": "application/json" } },
      { remoteAddress: "192.0.2.1" },
    );
    expect(response.status).toBe(401);
  });
});

describe("without a successor", () => {
  test("the last Owner of an organization is neither made inactive nor deleted; an inactive other Owner is none", async () => {
    const { h, db, call, message } = await administered();
    const ada = await createUser(h, "ada@example.com", "viewer");
    await join(h, ada.id, "lab", "owner");
    const refused = [409, "The last Owner of lab stays: make another member an Owner first"];
    expect(await message("PATCH", `/${ada.id}`, { active: false })).toEqual(refused);
    expect(await message("DELETE", `/${ada.id}`)).toEqual(refused);

    const bob = await createUser(h, "bob@example.com", "viewer");
    const [lab] = await db.select().from(organizations).where(eq(organizations.slug, "lab"));
    await db.insert(members).values({ organizationId: lab?.id ?? "", userId: bob.id, roleKey: "owner" });
    expect((await call("PATCH", `/${bob.id}`, { active: false }))[0]).toBe(200);
    expect(await message("DELETE", `/${ada.id}`)).toEqual(refused);
    // Nor may the only active one be removed, or leave.
    const headers = { ...(await openSession(h, ada.id)), "X-Organization": "lab" };
    const left = await h.request("/api/me/organizations/lab", { method: "DELETE", headers });
    expect([left.status, (await left.json()).message]).toEqual([
      409,
      "The last Owner stays: make another member an Owner first",
    ]);
    await call("PATCH", `/${bob.id}`, { active: true });
    expect((await call("DELETE", `/${ada.id}`))[0]).toBe(200);
    expect(await message("DELETE", `/${bob.id}`)).toEqual(refused);
    await db.update(organizations).set({ deletedAt: new Date() }).where(eq(organizations.slug, "lab"));
    expect((await call("DELETE", `/${bob.id}`))[0]).toBe(200);
  });

  test("the last Platform Admin keeps the flag and the account", async () => {
    const { h, admin, call, message } = await administered();
    const refused = [409, "The last Platform Admin stays: make another user one first"];
    expect(await message("PATCH", `/${admin}`, { isPlatformAdmin: false })).toEqual(refused);
    expect(await message("PATCH", `/${admin}`, { active: false })).toEqual(refused);
    expect(await message("DELETE", `/${admin}`)).toEqual(refused);
    const other = await call("POST", "", { email: "bob@example.com", password, isPlatformAdmin: true, active: false });
    expect(await message("DELETE", `/${admin}`)).toEqual(refused);
    await call("PATCH", `/${other[1].user.id}`, { active: true });
    expect(await call("DELETE", `/${admin}`)).toEqual([200, { deleted: true }]);
    expect((await call("GET"))[0]).toBe(401);
    const by = await openSession(h, other[1].user.id);
    expect((await call("GET", "", undefined, by))[1]).toMatchObject({ total: 1 });
  });
});

test("of two changes at the same time that would leave nobody, one is refused", async () => {
  const { h, db, admin, call } = await administered();
  const [ada, bob] = [await createUser(h, "ada@example.com"), await createUser(h, "bob@example.com")];
  const owners = await Promise.all([ada, bob].map(({ id }) => call("PATCH", `/${id}`, { active: false })));
  expect(owners.map(([status]) => status).sort()).toEqual([200, 409]);

  const second = await h.asPlatformAdmin();
  const { user } = await (await h.request("/api/me", { headers: second })).json();
  const demoted = { isPlatformAdmin: false };
  await Promise.all([call("PATCH", `/${user.id}`, demoted), call("PATCH", `/${admin}`, demoted, second)]);
  expect(await db.select().from(users).where(eq(users.isPlatformAdmin, true))).toHaveLength(1);
});

test("a deleted user is gone with memberships, tokens and links, and stays in the log", async () => {
  const { h, db, call } = await administered();
  await createUser(h, "owner@example.com");
  const { id } = await createUser(h, "ada@example.com", "admin");
  const session = await openSession(h, id);
  await resetLink(h, id);
  expect(await call("DELETE", `/${id}`)).toEqual([200, { deleted: true }]);
  expect(await statusOf(h, session)).toBe(401);
  expect(await linksOf(h)).toBe(0);
  expect(await db.select().from(members).where(eq(members.userId, id))).toEqual([]);
  const entries = await db
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.action, "user.delete"))
    .orderBy(asc(auditLogs.id));
  expect(entries.map(({ target, organizationId }) => [target, organizationId])).toEqual([
    ["ada@example.com", null],
    ["ada@example.com", h.organization.id],
  ]);
});

test("an inactive user becomes no Owner of a new organization", async () => {
  const h = await harness({ edition: managedEdition });
  const headers = await h.asPlatformAdmin();
  const { id, email: ownerEmail } = await createUser(h, "gone@example.com", "viewer");
  await h.services.database.db.update(users).set({ active: false }).where(eq(users.id, id));
  const made = await h.request("/api/organizations", { method: "POST", headers, json: { slug: "third", ownerEmail } });
  expect(made.status).toBe(409);
  expect((await made.json()).message).toBe("The Owner's account is not active: make it active first");
});
