import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { members, organizations, users, workspaces } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { signIn } from "../account/people.ts";
import { auditOf, type Headers, join, managementKey, refusal, rolesIn, userIdOf } from "./callers.ts";

const path = "/api/organizations";

const list = async (h: Harness, headers: Headers) => (await h.request(path, { headers })).json();
const create = (h: Harness, headers: Headers, json: unknown) => h.request(path, { method: "POST", headers, json });
const patch = (h: Harness, headers: Headers, json: unknown, slug = "acme") =>
  h.request(`${path}/${slug}`, { method: "PATCH", headers, json });

/** The second organization, and a person who belongs to both. */
async function twoOrganizations() {
  const h = await harness();
  const other = await h.createOrganization("other");
  const both = await h.as("viewer");
  await join(h, other.id, await userIdOf(h, both), "owner");
  return { h, other, both };
}

describe("the list of organizations", () => {
  test("holds those that the caller belongs to, by name, with the role held there", async () => {
    const { h, other, both } = await twoOrganizations();
    await h.createOrganization("third");
    await h.services.database.db.update(organizations).set({ name: "ABC" }).where(eq(organizations.id, other.id));
    const shape = { id: expect.any(String), createdAt: expect.any(String), updatedAt: expect.any(String) };
    expect(await list(h, both)).toEqual({
      organizations: [
        { ...shape, slug: "other", name: "ABC", roleKey: "owner" },
        { ...shape, slug: "acme", name: "acme", roleKey: "viewer" },
      ],
    });
    expect(await list(h, { ...both, "X-Organization": "other" })).toEqual(await list(h, both));
  });

  test("is one for a management key, with the Owner's role", async () => {
    const { h, other } = await twoOrganizations();
    const { organizations: own } = await list(h, await managementKey(h, other));
    expect(own).toEqual([expect.objectContaining({ id: other.id, slug: "other", roleKey: "owner" })]);
  });

  test("is refused to who belongs to none", async () => {
    const h = await harness();
    const headers = await h.as("viewer");
    await h.services.database.db.delete(members);
    expect(await refusal(h.request(path, { headers }))).toEqual([403, "Missing permission: org:read"]);
    expect((await h.request(path)).status).toBe(401);
  });
});

describe("an organization", () => {
  test.each(["owner", "admin", "member", "viewer"] as const)("is read by a %s", async (role) => {
    const h = await harness();
    const response = await h.request(`${path}/acme`, { headers: await h.as(role) });
    expect(response.status).toBe(200);
    const { organization } = await response.json();
    expect(organization).toMatchObject({ id: h.organization.id, slug: "acme", name: "acme", roleKey: role });
  });

  test("of strangers is like none, byte for byte", async () => {
    const h = await harness();
    await h.createOrganization("other");
    for (const headers of [await h.as("owner"), await managementKey(h)]) {
      const [foreign, missing] = await Promise.all(
        ["other", "missing"].map((slug) => h.request(`${path}/${slug}`, { headers })),
      );
      expect([foreign?.status, await foreign?.text()]).toEqual([404, await missing?.text()]);
      expect((await patch(h, headers, { name: "Mine" }, "other")).status).toBe(404);
    }
    const names = await h.services.database.db.select({ name: organizations.name }).from(organizations);
    expect(names.map(({ name }) => name).sort()).toEqual(["acme", "other"]);
  });

  test("gets a new name and slug, under which sessions and keys continue", async () => {
    const h = await harness();
    const [owner, key] = [await h.as("owner"), await managementKey(h)];
    const { slug } = await h.agent();
    const response = await patch(h, owner, { name: " Acme Inc. ", slug: "acme-inc" });
    expect(response.status).toBe(200);
    const { organization } = await response.json();
    expect(organization).toMatchObject({
      id: h.organization.id,
      slug: "acme-inc",
      name: "Acme Inc.",
      roleKey: "owner",
    });
    expect(Date.parse(organization.updatedAt)).toBeGreaterThanOrEqual(Date.parse(organization.createdAt));
    expect(await (await h.request(`${path}/acme-inc`, { headers: owner })).json()).toEqual({ organization });
    expect((await h.request(`${path}/acme`, { headers: owner })).status).toBe(404);
    expect((await h.request(`/api/instances/${slug}`, { headers: key })).status).toBe(200);

    const [row] = await h.services.database.db.select().from(organizations);
    expect(row?.revision).toBe(2);
    const entry = (await auditOf(h)).at(-1);
    expect(entry).toMatchObject({
      organizationId: h.organization.id,
      action: "organization.update",
      target: "acme",
      summary: { changes: { name: { from: "acme", to: "Acme Inc." }, slug: { from: "acme", to: "acme-inc" } } },
    });
  });

  test("keeps what is not given", async () => {
    const h = await harness();
    const key = await managementKey(h);
    expect((await (await patch(h, key, { name: "New" })).json()).organization).toMatchObject({
      slug: "acme",
      name: "New",
    });
    expect((await (await patch(h, key, { slug: "new" })).json()).organization).toMatchObject({
      slug: "new",
      name: "New",
    });
  });

  test.each([{}, { unknown: 1 }])("stays as it is, without a trace, when told %j", async (body) => {
    const h = await harness();
    const owner = await h.as("owner");
    const [before] = await h.services.database.db.select().from(organizations);
    const response = await patch(h, owner, body);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(await (await h.request(`${path}/acme`, { headers: owner })).json());
    expect(await h.services.database.db.select().from(organizations)).toEqual([before]);
    expect(await auditOf(h)).toEqual([]);
  });

  test("does not get a slug that is taken", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await h.createOrganization("other");
    expect(await refusal(patch(h, owner, { slug: "other", name: "New" }))).toEqual([409, "The slug other is taken"]);
    expect((await patch(h, owner, { slug: "acme" })).status).toBe(200);
    const [row] = await h.services.database.db.select().from(organizations).where(eq(organizations.slug, "acme"));
    expect(row?.name).toBe("acme");
  });

  test.each(["admin", "member", "viewer"] as const)("is not a %s's to rename", async (role) => {
    const h = await harness();
    expect(await refusal(patch(h, await h.as(role), { name: "Mine" }))).toEqual([403, "Missing permission: org:write"]);
  });

  test.each([
    [{ name: "" }],
    [{ name: "x".repeat(129) }],
    [{ slug: "" }],
    [{ slug: "Acme" }],
    [{ slug: "-a" }],
    [{ slug: "a/b" }],
    [{ slug: "a".repeat(64) }],
    [{ slug: null }],
    [[]],
  ])("is not changed to %j", async (body) => {
    const h = await harness();
    const response = await patch(h, await h.as("owner"), body);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(/name|slug|must be an object/i);
  });
});

describe("a new organization", () => {
  test("has a workspace and its maker as Owner", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const response = await create(h, owner, { slug: "new", name: "New" });
    expect(response.status).toBe(201);
    const { organization } = await response.json();
    expect(organization).toEqual({
      id: expect.any(String),
      slug: "new",
      name: "New",
      roleKey: "owner",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await rolesIn(h, organization.id)).toEqual({ [await userIdOf(h, owner)]: "owner" });
    const held = await h.services.database.db
      .select()
      .from(workspaces)
      .where(eq(workspaces.organizationId, organization.id));
    expect(held.map(({ name }) => name)).toEqual(["default"]);
    expect(await auditOf(h)).toEqual([
      expect.objectContaining({ organizationId: h.organization.id, action: "organization.create", target: "new" }),
    ]);
    const inside = { ...owner, "X-Organization": "new" };
    const agent = await h.request("/api/instances", { method: "POST", headers: inside, json: { slug: "first" } });
    expect(agent.status).toBe(201);
    expect((await (await h.request("/api/instances", { headers: owner })).json()).instances).toEqual([]);
  });

  test("is called by its slug unless told otherwise", async () => {
    const h = await harness();
    const response = await create(h, await h.as("owner"), { slug: "new" });
    expect((await response.json()).organization.name).toBe("new");
  });

  test("may belong to somebody else, and then not to its maker", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const person = await h.as("viewer", { organization: other });
    const { user } = await (await h.request("/api/me", { headers: person })).json();
    const headers = await h.as("owner");
    const response = await create(h, headers, { slug: "new", ownerEmail: ` ${user.email.toUpperCase()}` });
    expect(response.status).toBe(201);
    const { organization } = await response.json();
    expect(organization).toMatchObject({ slug: "new", roleKey: null });
    expect(await rolesIn(h, organization.id)).toEqual({ [user.id]: "owner" });
    expect((await h.request(`${path}/new`, { headers })).status).toBe(404);
    expect((await h.request(`${path}/new`, { headers: person })).status).toBe(200);
  });

  test("needs an owner with an account", async () => {
    const h = await harness();
    expect(await refusal(create(h, await h.as("owner"), { slug: "new", ownerEmail: "nobody@example.com" }))).toEqual([
      400,
      "ownerEmail: nobody has an account with this e-mail; add them as a member first",
    ]);
    expect(await h.services.database.db.select().from(organizations)).toHaveLength(1);
  });

  test("goes to no account whose password somebody else knows", async () => {
    const h = await harness();
    const tenant = await h.as("admin", { organization: await h.createOrganization("tenant") });
    const [email, password] = ["ceo@example.com", "chosen by the Admin"];
    const json = { email, roleKey: "viewer", password };
    expect((await h.request(`${path}/tenant/members`, { method: "POST", headers: tenant, json })).status).toBe(201);
    const owner = await h.as("owner");
    const give = () => create(h, owner, { slug: "new", ownerEmail: email });
    expect(await refusal(give())).toEqual([
      409,
      "Somebody else chose the password of the Owner's account: its holder must first choose another one",
    ]);
    expect((await auditOf(h)).map(({ action }) => action)).not.toContain("organization.create");
    const { token } = await (await signIn(h, { email, password })).json();
    const headers = { Authorization: `Bearer ${token}` };
    const own = { currentPassword: password, newPassword: "chosen by the holder" };
    expect((await h.request("/api/me/password", { method: "POST", headers, json: own })).status).toBe(200);
    expect((await give()).status).toBe(201);
  });

  test("does not get a slug that is taken, and nothing is left of it", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await h.createOrganization("other");
    for (const slug of ["acme", "other"]) {
      expect(await refusal(create(h, owner, { slug }))).toEqual([409, `The slug ${slug} is taken`]);
    }
    expect(await auditOf(h)).toEqual([]);
    expect(await h.services.database.db.select().from(workspaces)).toHaveLength(2);
  });

  test("is made once when asked for several times at the same time", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const responses = await Promise.all([1, 2, 3, 4].map(() => create(h, owner, { slug: "new" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  test("does not take the installation over when the time was set back since the first one was made", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await h.services.database.db.update(organizations).set({ createdAt: sql`now() + interval '1 day'` });
    expect((await create(h, owner, { slug: "tenant" })).status).toBe(201);
    const policies = (slug: string) =>
      h.request("/api/installation/policies", { headers: { ...owner, "X-Organization": slug } });
    expect((await policies("acme")).status).toBe(200);
    expect(await refusal(policies("tenant"))).toEqual([403, "Missing permission: policy:manage"]);
  });

  test("is the first organization's Owners' to make", async () => {
    const { h, other } = await twoOrganizations();
    const lacking = [403, "Missing permission: policy:manage"];
    for (const role of ["admin", "member", "viewer"] as const) {
      expect(await refusal(create(h, await h.as(role), { slug: "new" })), role).toEqual(lacking);
    }
    const elsewhere = await h.as("owner", { organization: other });
    expect(await refusal(create(h, elsewhere, { slug: "new" }))).toEqual(lacking);
    expect((await create(h, await managementKey(h, other), { slug: "new" })).status).toBe(403);
    const both = await h.as("owner");
    await join(h, other.id, await userIdOf(h, both), "owner");
    expect(await refusal(create(h, { ...both, "X-Organization": "other" }, { slug: "new" }))).toEqual(lacking);
    expect((await create(h, both, { slug: "new" })).status).toBe(201);
    expect((await create(h, {}, { slug: "newer" })).status).toBe(401);
  });

  test.each([
    [{}],
    [{ slug: "A" }],
    [{ slug: "a b" }],
    [{ slug: 1 }],
    [{ slug: "new", name: "  " }],
    [{ slug: "new", name: "\u0000" }],
    [{ slug: "new", ownerEmail: "nobody" }],
    [null],
  ])("is not made of %j", async (body) => {
    const h = await harness();
    const response = await create(h, await h.as("owner"), body);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(/slug|name|ownerEmail|must be an object/i);
    expect(await h.services.database.db.select().from(users)).toHaveLength(1);
  });
});
