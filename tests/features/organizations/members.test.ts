import { eq, sql } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import type { RoleKey } from "../../../src/core/credentials/permissions.ts";
import { accessTokens, members, users, workspaceMembers } from "../../../src/db/schema.ts";
import { dialect } from "../../database.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, password, signIn } from "../account/people.ts";
import {
  auditOf,
  entriesOf,
  type Headers,
  join,
  managementKey,
  nobody,
  oddIds,
  refusal,
  rolesIn,
  userIdOf,
} from "./callers.ts";

const at = (slug: string) => `/api/organizations/${slug}/members`;
const path = at("acme");

const add = (h: Harness, headers: Headers, json: unknown, slug = "acme") =>
  h.request(at(slug), { method: "POST", headers, json });
const assign = (h: Harness, headers: Headers, userId: string, roleKey: unknown, slug = "acme") =>
  h.request(`${at(slug)}/${userId}`, { method: "PUT", headers, json: { roleKey } });
const remove = (h: Harness, headers: Headers, userId: string, slug = "acme") =>
  h.request(`${at(slug)}/${userId}`, { method: "DELETE", headers });

/** Headers and id of a fresh person with this role. */
async function person(h: Harness, role: RoleKey, options?: Parameters<Harness["as"]>[1]) {
  const headers = await h.as(role, options);
  return { headers, id: await userIdOf(h, headers) };
}

describe("members", () => {
  test("are listed by name, for everybody in the organization", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    await h.as("admin", { organization: other });
    const people = { viewer: await person(h, "viewer"), owner: await person(h, "owner") };
    for (const headers of [people.viewer.headers, await managementKey(h)]) {
      const response = await h.request(path, { headers });
      expect(response.status).toBe(200);
      const { members: listed } = await response.json();
      expect(listed.map(({ userId }: { userId: string }) => userId)).toEqual([people.owner.id, people.viewer.id]);
      expect(listed[0]).toEqual({
        userId: people.owner.id,
        email: `owner-${people.owner.id}@example.com`,
        name: "owner",
        roleKey: "owner",
      });
    }
  });

  test("of another organization do not exist, byte for byte", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const foreign = await person(h, "viewer", { organization: other });
    for (const headers of [await h.as("owner"), await managementKey(h)]) {
      const call = async (work: (id: string) => Promise<Response>, id: string) => {
        const response = await work(id);
        return [response.status, await response.text()];
      };
      for (const work of [(id: string) => assign(h, headers, id, "admin"), (id: string) => remove(h, headers, id)]) {
        const missing = await call(work, nobody);
        expect(missing).toEqual([404, '{"statusCode":404,"message":"Member not found","error":"Not Found"}']);
        for (const id of [foreign.id, ...oddIds]) expect(await call(work, id), id).toEqual(missing);
      }
      const organization = [404, "Organization not found"];
      expect(await refusal(h.request(at("other"), { headers }))).toEqual(organization);
      expect(await refusal(add(h, headers, { email: "a@example.com", roleKey: "viewer" }, "other"))).toEqual(
        organization,
      );
      expect(await refusal(assign(h, headers, foreign.id, "admin", "other"))).toEqual(organization);
      expect(await refusal(remove(h, headers, foreign.id, "other"))).toEqual(organization);
    }
    expect(await rolesIn(h, other.id)).toEqual({ [foreign.id]: "viewer" });
  });

  test.each(["member", "viewer"] as const)("are not a %s's to change", async (role) => {
    const h = await harness();
    const [caller, someone] = [await person(h, role), await person(h, "viewer")];
    const lacking = [403, "Missing permission: org.member:manage"];
    expect(await refusal(add(h, caller.headers, "not even valid"))).toEqual(lacking);
    expect(await refusal(assign(h, caller.headers, caller.id, "admin"))).toEqual(lacking);
    expect(await refusal(remove(h, caller.headers, someone.id))).toEqual(lacking);
    expect((await add(h, {}, { email: "a@example.com", roleKey: "viewer" })).status).toBe(401);
  });
});

describe("a new member", () => {
  test("without an account gets one, with a generated password that is shown once", async () => {
    const h = await harness();
    const admin = await h.as("admin");
    const response = await add(h, admin, { email: " Ada@Example.com", roleKey: "member" });
    expect(response.status).toBe(201);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const body = await response.json();
    expect(body).toEqual({
      userId: expect.any(String),
      email: "ada@example.com",
      name: "ada",
      roleKey: "member",
      password: expect.stringMatching(/^[\w-]{16}$/),
    });
    const session = await signIn(h, { email: "ada@example.com", password: body.password });
    expect(session.status).toBe(200);
    const headers = { Authorization: `Bearer ${(await session.json()).token}` };
    expect((await h.request(path, { headers })).status).toBe(200);

    const audit = await auditOf(h);
    expect(audit.slice(0, 2).map(({ action, target, actorName }) => [action, target, actorName])).toEqual([
      ["user.create", "ada@example.com", "admin"],
      ["member.add", "ada@example.com", "admin"],
    ]);
    expect(audit[1]?.summary).toEqual({ roleKey: "member" });
    const stored = await h.services.database.query("select u::text from users u", []);
    expect(JSON.stringify([audit, stored, h.logs])).not.toContain(body.password);
  });

  test("may be given name and password, and then no password is shown", async () => {
    const h = await harness();
    const json = { email: "ada@example.com", name: " Ada ", roleKey: "viewer", password };
    const response = await add(h, await managementKey(h), json);
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({
      userId: expect.any(String),
      email: "ada@example.com",
      name: "Ada",
      roleKey: "viewer",
    });
    expect((await signIn(h, { email: "ada@example.com", password })).status).toBe(200);
    expect(JSON.stringify([await auditOf(h), h.logs])).not.toContain(password);
  });

  test("is no member yet", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const { id } = await createUser(h, "ada@example.com", "viewer");
    const json = { email: "ADA@example.com", roleKey: "admin" };
    expect(await refusal(add(h, owner, json))).toEqual([409, "ada@example.com is a member already"]);
    expect((await rolesIn(h, h.organization.id))[id]).toBe("viewer");
    expect(await auditOf(h)).toEqual([]);
  });

  test("gets one account when added several times at the same time, here and elsewhere", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const [here, there] = [await h.as("owner"), await h.as("owner", { organization: other })];
    const json = { email: "ada@example.com", roleKey: "viewer" };
    const responses = await Promise.all([
      add(h, here, json),
      add(h, here, json),
      add(h, there, json, "other"),
      add(h, there, json, "other"),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409]);
    const bodies = await Promise.all(responses.filter(({ ok }) => ok).map((response) => response.json()));
    const shown = bodies.filter((body) => "password" in body);
    expect(shown).toHaveLength(1);
    expect(bodies.filter((body) => body.invited)).toHaveLength(2);
    expect((await signIn(h, { email: "ada@example.com", password: shown[0].password })).status).toBe(200);
    expect(await h.services.database.db.select().from(users).where(eq(users.email, json.email))).toHaveLength(1);
  });

  test.each([
    [{ roleKey: "viewer" }],
    [{ email: "nobody", roleKey: "viewer" }],
    [{ email: "a@example.com", roleKey: "viewer", name: "" }],
    [{ email: "a@example.com", roleKey: "viewer", name: "\u0000" }],
    [{ email: "a@example.com", roleKey: "viewer", password: "short" }],
    [{ email: "a@example.com", roleKey: "viewer", password: "x".repeat(257) }],
    [{ email: "a@example.com", roleKey: "viewer", password: null }],
    [null],
  ])("is not made of %j", async (body) => {
    const h = await harness();
    const response = await add(h, await h.as("owner"), body);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(/email|name|password|must be an object/i);
    expect(await h.services.database.db.select().from(users)).toHaveLength(1);
  });
});

describe("a role", () => {
  test("changes what its holder may do from the next call on", async () => {
    const h = await harness();
    const [owner, someone] = [await h.as("owner"), await person(h, "admin")];
    const invite = (email: string) => add(h, someone.headers, { email, roleKey: "viewer", password });
    expect((await invite("a@example.com")).status).toBe(201);
    const response = await assign(h, owner, someone.id, "member");
    expect([response.status, await response.json()]).toEqual([200, { assigned: true }]);
    expect(await refusal(invite("b@example.com"))).toEqual([403, "Missing permission: org.member:manage"]);
    expect((await assign(h, owner, someone.id, "admin")).status).toBe(200);
    expect((await invite("c@example.com")).status).toBe(201);
    expect((await auditOf(h)).at(-3)).toMatchObject({
      action: "member.update",
      organizationId: h.organization.id,
      target: expect.stringContaining("@example.com"),
      summary: { userId: someone.id, changes: { roleKey: { from: "member", to: "admin" } } },
    });
  });

  test.each([
    ["superuser"],
    ["Owner"],
    ["constructor"],
    [""],
    [null],
    [1],
    [undefined],
  ])("is never %j", async (role) => {
    const h = await harness();
    const [owner, someone] = [await h.as("owner"), await person(h, "viewer")];
    const message = "roleKey: must be one of owner, admin, member, viewer";
    expect(await refusal(assign(h, owner, someone.id, role))).toEqual([400, message]);
    expect(await refusal(add(h, owner, { email: "a@example.com", roleKey: role }))).toEqual([400, message]);
    expect((await rolesIn(h, h.organization.id))[someone.id]).toBe("viewer");
  });

  test("of an Owner is nothing that an Admin gives or takes", async () => {
    const h = await harness();
    const [admin, owner] = [await person(h, "admin"), await person(h, "owner")];
    await h.as("owner");
    const before = await rolesIn(h, h.organization.id);
    const make = [403, "Only an Owner may make somebody an Owner"];
    expect(await refusal(assign(h, admin.headers, admin.id, "owner"))).toEqual(make);
    expect(await refusal(add(h, admin.headers, { email: "a@example.com", roleKey: "owner" }))).toEqual(make);
    expect(await refusal(assign(h, admin.headers, owner.id, "owner"))).toEqual(make);
    expect(await refusal(assign(h, admin.headers, owner.id, "viewer"))).toEqual([
      403,
      "Only an Owner may change the role of an Owner",
    ]);
    expect(await refusal(remove(h, admin.headers, owner.id))).toEqual([403, "Only an Owner may remove an Owner"]);
    expect(await rolesIn(h, h.organization.id)).toEqual(before);
    expect(new Set((await auditOf(h)).map(({ action }) => action))).toEqual(new Set(["access.refuse"]));
  });

  test("of an Owner is an Owner's to give and take", async () => {
    const h = await harness();
    const { headers } = await person(h, "owner");
    const [one, two] = [await person(h, "viewer"), await person(h, "owner")];
    expect((await assign(h, headers, one.id, "owner")).status).toBe(200);
    expect((await assign(h, headers, one.id, "viewer")).status).toBe(200);
    expect((await remove(h, headers, two.id)).status).toBe(200);
    expect((await add(h, headers, { email: "new@example.com", roleKey: "owner", password })).status).toBe(201);
  });

  test("of an Owner is taken by a management key, but never given: the Owner would outlive the key", async () => {
    const h = await harness();
    const [key, one, two] = [await managementKey(h), await person(h, "viewer"), await person(h, "owner")];
    const elsewhere = await person(h, "viewer", { organization: await h.createOrganization("other") });
    const { email } = (await h.services.database.db.select().from(users).where(eq(users.id, elsewhere.id)))[0] ?? {};
    await h.as("owner");
    const before = await rolesIn(h, h.organization.id);
    const never = [403, "Only a person may make an Owner, never a management key: sign in for it"];
    expect(await refusal(assign(h, key, one.id, "owner"))).toEqual(never);
    expect(await refusal(add(h, key, { email: "new@example.com", roleKey: "owner", password }))).toEqual(never);
    expect(await refusal(add(h, key, { email, roleKey: "owner" }))).toEqual(never);
    expect(await refusal(h.request(`${path}/${two.id}/password`, { method: "POST", headers: key }))).toEqual([
      403,
      "Only a person may manage an Owner's account, never a management key",
    ]);
    const json = { slug: "new", ownerEmail: email };
    expect(await refusal(h.request("/api/organizations", { method: "POST", headers: key, json }))).toEqual([
      403,
      "This route needs a signed-in session",
    ]);
    expect(await rolesIn(h, h.organization.id)).toEqual(before);
    expect(await h.services.database.db.select().from(users).where(eq(users.email, "new@example.com"))).toEqual([]);
    expect((await assign(h, key, two.id, "viewer")).status).toBe(200);
  });
});

describe("the last Owner", () => {
  const stays = [409, "The last Owner stays: make another member an Owner first"];

  test("stays, for every caller", async () => {
    const h = await harness();
    // Owners of another organization do not count as Owners of this one.
    const other = await h.createOrganization("other");
    const owner = await person(h, "owner");
    await join(h, other.id, owner.id, "owner");
    await h.as("owner", { organization: other });
    await h.as("admin");
    for (const headers of [owner.headers, await managementKey(h)]) {
      expect(await refusal(assign(h, headers, owner.id, "admin"))).toEqual(stays);
      expect(await refusal(remove(h, headers, owner.id))).toEqual(stays);
    }
    expect((await assign(h, owner.headers, owner.id, "owner")).status).toBe(200);
    expect((await rolesIn(h, h.organization.id))[owner.id]).toBe("owner");
  });

  test("may go once there is another", async () => {
    const h = await harness();
    const [owner, heir] = [await person(h, "owner"), await person(h, "viewer")];
    expect((await assign(h, owner.headers, heir.id, "owner")).status).toBe(200);
    expect((await remove(h, owner.headers, owner.id)).status).toBe(200);
    expect(await refusal(remove(h, heir.headers, heir.id))).toEqual(stays);
  });

  test.each([
    ["remove each other", (h: Harness, headers: Headers, id: string) => remove(h, headers, id)],
    ["demote each other", (h: Harness, headers: Headers, id: string) => assign(h, headers, id, "viewer")],
  ])("is left when several Owners %s at the same time", async (_what, act) => {
    const h = await harness();
    const owners = await Promise.all([1, 2, 3, 4].map(() => person(h, "owner")));
    const statuses = await Promise.all(
      owners.map(async ({ headers }, index) => (await act(h, headers, owners[(index + 1) % 4]?.id ?? "")).status),
    );
    const left = Object.values(await rolesIn(h, h.organization.id)).filter((role) => role === "owner");
    expect(left.length).toBeGreaterThanOrEqual(1);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4 - left.length);
  });

  // The embedded database has a single session, in which no statement waits for a lock.
  test.runIf(dialect === "postgres")("is removed by no Owner who was removed while the removal waited", async () => {
    const h = await harness();
    const [one, two] = [await person(h, "owner"), await person(h, "owner")];
    await h.as("owner");
    const { database } = h.services;
    let answers: Promise<Response>[] = [];
    await database.transaction(async (tx) => {
      await tx.execute(sql`select 1 from organizations for no key update`);
      answers = [remove(h, one.headers, two.id), remove(h, two.headers, one.id)];
      const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await vi.waitFor(async () => expect(await database.query(waiting, [])).toHaveLength(2), 5000);
    });
    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(Object.values(await rolesIn(h, h.organization.id))).toHaveLength(2);
  });

  test("is left when all leave through one key at the same time", async () => {
    const h = await harness();
    const key = await managementKey(h);
    const owners = await Promise.all([1, 2, 3, 4].map(() => person(h, "owner")));
    const responses = await Promise.all(
      owners.map(({ id }, index) => (index % 2 ? remove(h, key, id) : assign(h, key, id, "viewer"))),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
  });
});

describe("a removed member", () => {
  test("loses the organization, its workspaces and its use in sessions at once", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const { slug } = await h.agent();
    const [owner, someone] = [await h.as("owner"), await person(h, "member")];
    await join(h, other.id, someone.id, "viewer");
    const { db } = h.services.database;
    await db.insert(workspaceMembers).values({ workspaceId: other.workspaceId, userId: someone.id });
    const there = await h.as("owner", { organization: other });
    await h.request("/api/instances", { method: "POST", headers: there, json: { slug: "elsewhere" } });
    const second = await person(h, "viewer");
    await db.update(accessTokens).set({ activeOrganizationId: h.organization.id });
    const agent = () => h.request(`/api/instances/${slug}`, { headers: someone.headers });
    expect((await agent()).status).toBe(200);

    const response = await remove(h, owner, someone.id);
    expect([response.status, await response.json()]).toEqual([200, { removed: true }]);
    expect((await agent()).status).toBe(404);
    expect((await h.request(path, { headers: someone.headers })).status).toBe(404);
    expect(await entriesOf(h, someone.id)).toEqual([other.workspaceId]);
    expect((await h.request(at("other"), { headers: someone.headers })).status).toBe(200);
    // A request without an organization uses the remaining one, although the session had chosen the lost one.
    const meant = async (headers: Headers) =>
      (await (await h.request("/api/instances", { headers })).json()).instances.map(
        ({ slug }: { slug: string }) => slug,
      );
    expect(await meant(someone.headers)).toEqual(["elsewhere"]);
    expect(await meant(second.headers)).toEqual([slug]);
    expect((await auditOf(h)).at(-1)).toMatchObject({ action: "member.remove", summary: { userId: someone.id } });
    expect((await remove(h, owner, someone.id)).status).toBe(404);

    await join(h, h.organization.id, someone.id, "member");
    expect((await agent()).status).toBe(404);
  });

  test("a member of no other organization has an account and nothing more", async () => {
    const h = await harness();
    const [admin, someone] = [await h.as("admin"), await person(h, "viewer")];
    expect((await remove(h, admin, someone.id)).status).toBe(200);
    expect(await refusal(h.request("/api/instances", { headers: someone.headers }))).toEqual([
      403,
      "Missing permission: agent:read",
    ]);
    expect((await h.request("/api/me", { headers: someone.headers })).status).toBe(200);
    expect(await h.services.database.db.select().from(members).where(eq(members.userId, someone.id))).toEqual([]);
  });
});
