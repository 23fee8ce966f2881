import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { type Edition, editionOf } from "../../../src/core/edition.ts";
import type { Parameter } from "../../../src/db/client.ts";
import { auditLogs, members, users } from "../../../src/db/schema.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";
import { createUser, join, openSession } from "./people.ts";

type Headers = Record<string, string>;

const managed = () => harness({ edition: managedEdition });
const withoutFeature = editionOf({ EDITION: "managed", FEATURES: ["channels"] });

/** The same installation, served in an edition from now on. */
const serveAs = ({ services }: Harness, edition: Edition) => {
  services.options.edition = edition;
};

const message = async (h: Harness, path: string, headers: Headers, init: object = {}) => {
  const response = await h.request(path, { headers, ...init });
  const answer = (await response.json()) as { message?: string };
  return [response.status, answer.message ?? null];
};

const admins = async ({ services }: Harness) =>
  (await services.database.db.select({ email: users.email }).from(users).where(eq(users.isPlatformAdmin, true))).map(
    ({ email }) => email,
  );

const policies = "/api/installation/policies";

describe("the command", () => {
  test("makes a user a Platform Admin, once, and ends that, with an entry in the installation's log", async () => {
    const h = await managed();
    await createUser(h, "ada@example.com");
    await createUser(h, "bob@example.com", "viewer");
    const change = (email: string, value: boolean) => h.engine.changePlatformAdmin(email, value);
    expect(await change(" Ada@Example.com ", true)).toEqual({
      email: "ada@example.com",
      isPlatformAdmin: true,
      changed: true,
    });
    expect(await change("ada@example.com", true)).toMatchObject({ changed: false });
    await expect(change("ada@example.com", false)).rejects.toThrow(
      "The last Platform Admin stays: make another user one first",
    );
    await change("bob@example.com", true);
    expect(await change("ada@example.com", false)).toMatchObject({ isPlatformAdmin: false, changed: true });
    expect(await admins(h)).toEqual(["bob@example.com"]);
    await expect(change("nobody@example.com", true)).rejects.toThrow(/No user has the e-mail nobody@example.com/);
    const { action, target, organizationId } = auditLogs;
    const entries = await h.services.database.db.select({ action, target, organizationId }).from(auditLogs);
    expect(entries.map((entry) => `${entry.action} ${entry.target} ${entry.organizationId}`).sort()).toEqual([
      "platform-admin.grant ada@example.com null",
      "platform-admin.grant bob@example.com null",
      "platform-admin.revoke ada@example.com null",
    ]);
  });

  test("leaves one who may sign in: an inactive other one does not count", async () => {
    const h = await managed();
    const { db } = h.services.database;
    for (const email of ["ada@example.com", "bob@example.com"]) {
      await createUser(h, email);
      await h.engine.changePlatformAdmin(email, true);
    }
    await db.update(users).set({ active: false }).where(eq(users.email, "bob@example.com"));
    await expect(h.engine.changePlatformAdmin("ada@example.com", false)).rejects.toThrow(/^The last Platform Admin/);
  });

  test("refuses an account whose password somebody else chose, and an edition without Platform Admins", async () => {
    const h = await managed();
    const { id } = await createUser(h, "ada@example.com");
    const { db } = h.services.database;
    await db.update(users).set({ passwordSetBy: id, passwordOrganization: h.organization.id });
    const grant = () => h.engine.changePlatformAdmin("ada@example.com", true);
    await expect(grant()).rejects.toThrow(/^Somebody else chose the password of the account/);
    serveAs(h, withoutFeature);
    await expect(grant()).rejects.toThrow("Platform Admins need EDITION=managed with the feature administration");
    expect(await admins(h)).toEqual([]);
  });
});

describe("at a start", () => {
  test("the first Owner of a new installation is a Platform Admin, and of an open one is not", async () => {
    const owner = { email: "owner@example.com", password: "correct horse battery" };
    const [h, open] = [await managed(), await harness()];
    for (const { engine } of [h, open]) await engine.boot({ owner });
    expect(await admins(h)).toEqual([owner.email]);
    expect(await admins(open)).toEqual([]);
  });

  test("the Owners of the first organization become it when nobody is, but for passwords that others chose", async () => {
    const h = await harness();
    const { db } = h.services.database;
    await createUser(h, "ada@example.com");
    await createUser(h, "bob@example.com");
    const { id } = await createUser(h, "eve@example.com");
    await db.update(users).set({ passwordSetBy: id, passwordOrganization: h.organization.id }).where(eq(users.id, id));
    await createUser(h, "member@example.com", "admin");
    const other = await createUser(h, "other@example.com", "viewer");
    await join(h, other.id, "lab", "owner");
    await h.engine.boot({});
    expect(await admins(h)).toEqual([]);
    serveAs(h, managedEdition);
    await h.engine.boot({});
    expect((await admins(h)).sort()).toEqual(["ada@example.com", "bob@example.com"]);
    await h.engine.changePlatformAdmin("bob@example.com", false);
    await h.engine.boot({});
    expect(await admins(h)).toEqual(["ada@example.com"]);
  });
});

describe("closing never loosens", () => {
  test.each([
    ["the feature off", withoutFeature],
    ["the open edition", editionOf({ EDITION: "open", FEATURES: [] })],
  ])("%s ends rights beyond memberships, and leaves policy:manage to Platform Admins", async (_, edition) => {
    const h = await managed();
    const lab = await h.createOrganization("lab");
    const admin = await h.asPlatformAdmin();
    const owner = await h.as("owner");
    const json = { name: "CI" };
    const made = await h.request("/api/organizations/acme/management-keys", { method: "POST", headers: owner, json });
    const { id, key } = (await made.json()) as { id: string; key: string };
    const keyHeaders = { Authorization: `Bearer ${key}` };
    for (const slug of ["acme", lab.slug]) {
      expect(await message(h, `/api/organizations/${slug}`, admin)).toEqual([200, null]);
    }

    serveAs(h, edition);
    for (const slug of ["acme", lab.slug]) {
      expect(await message(h, `/api/organizations/${slug}`, admin)).toEqual([404, "Organization not found"]);
    }
    expect(await message(h, "/api/instances", admin)).toEqual([403, "Missing permission: agent:read"]);
    expect(await message(h, policies, admin)).toEqual([200, null]);
    for (const headers of [owner, keyHeaders]) {
      expect(await message(h, policies, headers)).toEqual([403, "Missing permission: policy:manage"]);
    }
    const me = (await (await h.request("/api/me", { headers: admin })).json()) as object;
    expect(me).toMatchObject({ isPlatformAdmin: false, user: { organizations: [] } });
    expect(
      (await message(h, `/api/organizations/acme/management-keys/${id}`, keyHeaders, { method: "DELETE" }))[0],
    ).toBe(403);
    await h.engine.boot({});
    expect(await admins(h)).toHaveLength(1);
  });
});

describe("a Platform Admin", () => {
  test("lists, reads and chooses every organization; the role is null where there is no membership", async () => {
    const h = await managed();
    const { id } = await createUser(h, "ada@example.com", "viewer");
    await h.engine.changePlatformAdmin("ada@example.com", true);
    await h.createOrganization("lab");
    const headers = await openSession(h, id);
    const { organizations } = await (await h.request("/api/organizations", { headers })).json();
    const roles = organizations.map(({ slug, roleKey }: Record<string, unknown>) => [slug, roleKey]);
    expect(roles).toEqual([
      ["acme", "viewer"],
      ["lab", null],
    ]);
    const chosen = await h.request("/api/me/organization", { method: "PUT", headers, json: { slug: "lab" } });
    expect(await chosen.json()).toEqual({ organization: { slug: "lab", name: "lab", roleKey: null } });
    await h.request("/api/instances", {
      method: "POST",
      headers,
      json: { slug: "tea", provider: "demo", model: "demo" },
    });
    const own = await h.request("/api/instances/tea", { headers: { ...headers, "X-Organization": "lab" } });
    expect(own.status).toBe(200);
    const me = await (await h.request("/api/me", { headers })).json();
    expect(me).toMatchObject({ isPlatformAdmin: true, user: { organizations: [{ slug: "acme", roleKey: "viewer" }] } });
    expect(me.user.organizations[0].permissions).toContain("policy:manage");
  });

  test("is one only with an own password, and while active", async () => {
    const h = await managed();
    const { id } = await createUser(h, "ada@example.com", "viewer");
    const headers = await openSession(h, id);
    await h.engine.changePlatformAdmin("ada@example.com", true);
    const { db } = h.services.database;
    expect(await message(h, policies, headers)).toEqual([200, null]);
    await db.update(users).set({ passwordOrganization: h.organization.id });
    expect(await message(h, policies, headers)).toEqual([403, "Missing permission: policy:manage"]);
    await db.update(users).set({ passwordOrganization: null, active: false });
    expect(await message(h, policies, headers)).toEqual([401, "Invalid or expired credentials"]);
  });

  test.each([
    managedEdition,
    withoutFeature,
  ])("is not taken over by renewing the password, in any edition", async (edition) => {
    const h = await managed();
    const { id } = await createUser(h, "ada@example.com", "viewer");
    const [admin, owner] = [await h.as("admin"), await h.as("owner")];
    await h.engine.changePlatformAdmin("ada@example.com", true);
    serveAs(h, edition);
    for (const headers of [admin, owner]) {
      for (const [method, path] of [
        ["POST", "password"],
        ["DELETE", "sessions"],
      ]) {
        expect(await message(h, `/api/organizations/acme/members/${id}/${path}`, headers, { method })).toEqual([
          403,
          "This member is a Platform Admin: only a Platform Admin manages the account",
        ]);
      }
    }
  });

  test("may invite, and the invitation ends with the flag", async () => {
    const h = await managed();
    const { id } = await createUser(h, "ada@example.com");
    await h.services.database.db.delete(members).where(eq(members.userId, id));
    await createUser(h, "other@example.com");
    await h.engine.changePlatformAdmin("ada@example.com", true);
    await h.engine.changePlatformAdmin("other@example.com", true);
    const invitee = await createUser(h, "guest@example.com", "viewer");
    const lab = await h.createOrganization("lab");
    const path = `/api/organizations/${lab.slug}/members`;
    const json = { email: "guest@example.com", roleKey: "owner" };
    const invited = await h.request(path, { method: "POST", headers: await openSession(h, id), json });
    expect(await invited.json()).toMatchObject({ invited: true });
    const received = async () => {
      const headers = await openSession(h, invitee.id);
      return (await (await h.request("/api/me/invitations", { headers })).json()).invitations.length;
    };
    expect(await received()).toBe(1);
    await h.engine.changePlatformAdmin("ada@example.com", false);
    expect(await received()).toBe(0);
  });
});

test("the routes of the installation are for sessions, and a management key may revoke itself, with the feature", async () => {
  const h = await managed();
  const owner = await h.as("owner");
  const path = "/api/organizations/acme/management-keys";
  const make = async () => {
    const made = await h.request(path, { method: "POST", headers: owner, json: { name: "CI" } });
    return (await made.json()) as { id: string; key: string };
  };
  const [mine, another] = [await make(), await make()];
  const headers = { Authorization: `Bearer ${mine.key}` };
  for (const one of [policies, "/api/installation/health"]) {
    expect(await message(h, one, headers)).toEqual([403, "This route needs a signed-in session"]);
  }
  const remove = (id: string) => message(h, `${path}/${id}`, headers, { method: "DELETE" });
  for (const id of [another.id, "nothing"])
    expect(await remove(id)).toEqual([403, "A management key can revoke only itself"]);
  expect(await remove(mine.id)).toEqual([200, null]);
  expect((await message(h, "/api/instances", headers))[0]).toBe(401);
  expect((await message(h, "/api/instances", { Authorization: `Bearer ${another.key}` }))[0]).toBe(200);
});

test("no statement about a caller's rights reads all organizations, of whatever edition", async () => {
  const h = await managed();
  const { database } = h.services;
  await database.query(
    `insert into organizations (id, slug, name) select gen_random_uuid(), 'o' || n, 'o' from generate_series(1, 3000) n`,
    [],
  );
  await database.query("analyze organizations", []);
  const spy = spyOnStatements(database);
  const admin = await h.asPlatformAdmin();
  await h.request("/api/instances", { headers: admin });
  await h.request("/api/instances", { headers: { ...admin, "X-Organization": "o7" } });
  const sent = spy.calls().filter(({ text }) => text.includes('"reached"'));
  spy.restore();
  expect(sent.length).toBeGreaterThan(1);
  for (const { text, parameters } of sent) {
    const plan = JSON.stringify(await database.query(`explain (format json) ${text}`, parameters as Parameter[]));
    expect(plan).not.toMatch(/Seq Scan[^}]*"organizations"/);
  }
});

test("what a Platform Admin changes in the installation is in no log of the chosen organization", async () => {
  const h = await harness({ edition: managedEdition });
  const admin = await h.asPlatformAdmin();
  const other = await h.createOrganization("other");
  const headers = { ...admin, "X-Organization": "other" };
  const relay = { host: "smtp.example.com", from: "a@example.com" };
  const statuses = [
    await h.request("/api/installation/policies", { method: "PATCH", headers, json: { maxRestarts: 4 } }),
    await h.request("/api/installation/mail-relay", { method: "PUT", headers, json: relay }),
    await h.request("/api/installation/mail-relay", { method: "DELETE", headers }),
    await h.request("/api/organizations", { method: "POST", headers, json: { slug: "third" } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200, 201]);
  const { db } = h.services.database;
  const rows = await db.select({ action: auditLogs.action, organizationId: auditLogs.organizationId }).from(auditLogs);
  expect(rows.filter(({ organizationId }) => organizationId === other.id)).toEqual([]);
  const unowned = rows.filter(({ organizationId }) => organizationId === null).map(({ action }) => action);
  expect(unowned.toSorted()).toEqual([
    "mail-relay.delete",
    "mail-relay.update",
    "organization.create",
    "policy.update",
  ]);
});
