import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { newId } from "../../../src/core/ids.ts";
import { customRoles, invitations, members, workspaceMembers, workspaces } from "../../../src/db/schema.ts";
import { lookup } from "../../../src/http/callers/lookup.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { keptIndexes } from "../../plan.ts";
import { createUser, issueToken, openSession } from "../account/people.ts";
import { auditOf, type Headers, managementKey, refusal, rolesIn, userIdOf } from "./callers.ts";

const path = "/api/organizations/acme/roles";
const ofMembers = "/api/organizations/acme/members";

const managed = () => harness({ edition: managedEdition });

const send = (h: Harness, method: string, at: string, headers: Headers, json?: object) =>
  h.request(at, { method, headers, ...(json ? { json } : {}) });

const auditor = { key: "auditor", name: "Auditor", permissions: ["org:read", "audit_log:read"] };

async function create(h: Harness, headers: Headers, role: object) {
  const response = await send(h, "POST", path, headers, role);
  expect(response.status).toBe(201);
  return (await response.json()).role;
}

/** A person of the organization with one of its own roles. */
async function holder(h: Harness, roleKey: string) {
  const headers = await h.as("viewer");
  const id = await userIdOf(h, headers);
  await h.services.database.db.update(members).set({ roleKey }).where(eq(members.userId, id));
  return { headers, id };
}

describe("roles", () => {
  test("are created, listed after the built-in ones, replaced and deleted, with entries in the audit log", async () => {
    const h = await managed();
    const owner = await h.as("owner");
    const role = await create(h, owner, { ...auditor, name: " Auditor " });
    expect(role).toEqual({
      ...{ key: "auditor", name: "Auditor", allWorkspaces: false, builtin: false, holders: 0 },
      permissions: ["org:read", "audit_log:read"],
    });
    await create(h, owner, { key: "a-reader", name: "A reader", permissions: [], allWorkspaces: true });
    const { headers } = await holder(h, "auditor");
    const { roles } = await (await send(h, "GET", path, headers)).json();
    expect(
      roles.map(({ key, builtin, holders, allWorkspaces }: typeof role) => [key, builtin, holders, allWorkspaces]),
    ).toEqual([
      ["owner", true, 1, true],
      ["admin", true, 0, true],
      ["member", true, 0, false],
      ["viewer", true, 0, false],
      ["a-reader", false, 0, true],
      ["auditor", false, 1, false],
    ]);
    expect(roles[0].permissions).toEqual(expect.arrayContaining(["org:write", "org.role:manage"]));
    expect(roles[0].permissions).not.toContain("policy:manage");

    const changes = { name: "Reviser", permissions: ["org:read"], allWorkspaces: true };
    const changed = await send(h, "PUT", `${path}/auditor`, owner, changes);
    expect(await changed.json()).toEqual({ role: { key: "auditor", builtin: false, holders: 1, ...changes } });
    expect(await refusal(send(h, "DELETE", `${path}/auditor`, owner))).toEqual([409, "The role is held by 1 members"]);
    expect(await (await send(h, "DELETE", `${path}/a-reader`, owner)).json()).toEqual({ deleted: true });
    expect(await refusal(send(h, "DELETE", `${path}/a-reader`, owner))).toEqual([404, "Role not found"]);
    const entries = (await auditOf(h)).filter(({ action }) => action.startsWith("role."));
    expect(entries.map(({ action, target }) => `${action} ${target}`)).toEqual([
      "role.create Auditor",
      "role.create A reader",
      "role.update Auditor",
      "role.delete A reader",
    ]);
    expect(entries[2]?.summary).toMatchObject({
      key: "auditor",
      changes: { name: { from: "Auditor", to: "Reviser" } },
    });
  });

  test.each([
    [{ key: "a" }, /^key: must be 2 to 40/],
    [{ key: "Auditor" }, /^key: /],
    [{ key: `a${"b".repeat(40)}` }, /^key: /],
    [{ name: " " }, "name: must not be empty"],
    [{ name: "x".repeat(65) }, /^name: /],
    [{ permissions: ["agent:fly"] }, "permissions.0: must be a permission, such as agent:read"],
    [{ permissions: undefined }, /^permissions: /],
    ...["policy:manage", "org.key:manage", "org.role:manage", "org:write"].map(
      (permission) =>
        [{ permissions: ["org:read", permission] }, `permissions: ${permission} can't be in a custom role`] as const,
    ),
  ] as const)("are not %j: 400", async (part, message) => {
    const h = await managed();
    const [status, said] = await refusal(send(h, "POST", path, await h.as("owner"), { ...auditor, ...part }));
    expect([status, said]).toEqual([400, expect.stringMatching(message)]);
  });

  test("that are built in or taken are 409, and so is the 51st", async () => {
    const h = await managed();
    const owner = await h.as("owner");
    await create(h, owner, auditor);
    const { key: _, ...changes } = auditor;
    for (const key of ["owner", "admin", "member", "viewer"]) {
      const builtIn = [409, `The role ${key} is built in`];
      expect(await refusal(send(h, "POST", path, owner, { ...auditor, key }))).toEqual(builtIn);
      expect(await refusal(send(h, "PUT", `${path}/${key}`, owner, changes))).toEqual(builtIn);
      expect(await refusal(send(h, "DELETE", `${path}/${key}`, owner))).toEqual(builtIn);
    }
    expect(await refusal(send(h, "POST", path, owner, auditor))).toEqual([409, "There is a role auditor already"]);
    const row = { organizationId: h.organization.id, name: "x", permissions: [] };
    const more = Array.from({ length: 49 }, (_one, n) => ({ ...row, key: `role-${n}` }));
    await h.services.database.db.insert(customRoles).values(more);
    expect(await refusal(send(h, "POST", path, owner, { ...auditor, key: "one-more" }))).toEqual([
      409,
      "The organization has 50 roles: delete one first",
    ]);
  });

  test("are deleted by a signed-in Owner alone, and managed by an Owner's key", async () => {
    const h = await managed();
    const key = await managementKey(h);
    await create(h, key, auditor);
    expect(await refusal(send(h, "DELETE", `${path}/auditor`, key))).toEqual([
      403,
      "This route needs a signed-in session",
    ]);
    const admin = await h.as("admin");
    expect(await refusal(send(h, "POST", path, admin, auditor))).toEqual([403, "Missing permission: org.role:manage"]);
  });
});

describe("a custom role", () => {
  test("gives its permissions, in the workspaces that it reaches, from the next request on", async () => {
    const h = await managed();
    const owner = await h.as("owner");
    const { slug } = await h.agent();
    await create(h, owner, { key: "support", name: "Support", permissions: ["agent:read"] });
    const ada = await createUser(h, "ada@example.com", "viewer");
    const headers = await openSession(h, ada.id);
    expect((await send(h, "PUT", `${ofMembers}/${ada.id}`, owner, { roleKey: "support" })).status).toBe(200);
    const agents = async () => (await (await h.request("/api/instances", { headers })).json()).instances.length;
    expect(await agents()).toBe(0);
    const role = { name: "Support", permissions: ["agent:read", "agent:write"], allWorkspaces: true };
    expect((await send(h, "PUT", `${path}/support`, owner, role)).status).toBe(200);
    expect(await agents()).toBe(1);
    expect((await send(h, "PATCH", `/api/instances/${slug}`, headers, { name: "Renamed" })).status).toBe(200);
    expect(await refusal(send(h, "DELETE", `/api/instances/${slug}`, headers))).toEqual([
      403,
      "Missing permission: agent:delete",
    ]);
    const { user } = await (await h.request("/api/me", { headers })).json();
    expect(user.organizations).toEqual([
      { slug: "acme", name: "acme", roleKey: "support", permissions: ["agent:read", "agent:write"] },
    ]);
  });

  test("stays in force without the feature, where its routes are gone", async () => {
    const h = await managed();
    await create(h, await h.as("owner"), auditor);
    const { headers } = await holder(h, "auditor");
    h.services.options.edition = openEdition;
    expect((await h.request("/api/audit-logs", { headers })).status).toBe(200);
    expect(await refusal(h.request("/api/instances", { headers }))).toEqual([403, "Missing permission: agent:read"]);
    const { user } = await (await h.request("/api/me", { headers })).json();
    expect(user.organizations[0].permissions).toEqual(["org:read", "audit_log:read"]);
  });

  test("of another organization is unknown", async () => {
    const h = await managed();
    const other = await h.createOrganization("other");
    await create(h, await h.as("owner"), auditor);
    const foreign = await h.as("owner", { organization: other });
    const json = { email: "eve@example.com", roleKey: "auditor" };
    expect(await refusal(send(h, "POST", "/api/organizations/other/members", foreign, json))).toEqual([
      400,
      "roleKey: must be one of owner, admin, member, viewer",
    ]);
    const { id } = await holder(h, "viewer");
    const unknown = await refusal(send(h, "PUT", `${ofMembers}/${id}`, await h.as("owner"), { roleKey: "nothing" }));
    expect(unknown).toEqual([400, "roleKey: must be one of owner, admin, member, viewer, auditor"]);
  });
});

/** Hana, who adds people and may do little else herself. */
async function withHana(permissions = ["org.member:manage", "org:read"]) {
  const h = await managed();
  const owner = await h.as("owner");
  await create(h, owner, { key: "people", name: "People", permissions });
  await create(h, owner, { key: "reader", name: "Reader", permissions: ["org:read"] });
  return { h, owner, hana: await holder(h, "people") };
}

describe("nobody gives what they lack", () => {
  test("to new members, to members, or by an invitation", async () => {
    const { h, owner, hana } = await withHana();
    await create(h, owner, { key: "wide", name: "Wide", permissions: ["org:read"], allWorkspaces: true });
    const other = await h.createOrganization("other");
    const known = await createUser({ ...h, organization: other }, "known@example.com");
    const mate = await holder(h, "reader");
    const refused = {
      viewer: "You can't grant agent:read",
      admin: "You can't grant agent:read",
      wide: "You can't grant access to every workspace",
      owner: "Only an Owner may make somebody an Owner",
    };
    for (const [roleKey, message] of Object.entries(refused)) {
      for (const email of ["new@example.com", known.email]) {
        expect(await refusal(send(h, "POST", ofMembers, hana.headers, { email, roleKey }))).toEqual([403, message]);
      }
      for (const id of [mate.id, hana.id]) {
        expect(await refusal(send(h, "PUT", `${ofMembers}/${id}`, hana.headers, { roleKey }))).toEqual([403, message]);
      }
    }
    for (const email of ["new@example.com", known.email]) {
      expect((await send(h, "POST", ofMembers, hana.headers, { email, roleKey: "reader" })).status).toBe(201);
    }
    expect((await send(h, "PUT", `${ofMembers}/${mate.id}`, hana.headers, { roleKey: "people" })).status).toBe(200);
  });

  test("nor changes, removes or takes over a member with a higher role", async () => {
    const { h, owner, hana } = await withHana();
    const higher = [403, "This member's role is higher than yours: ask an Owner"];
    const [admin, viewer] = [await holder(h, "admin"), await holder(h, "viewer")];
    for (const { id } of [admin, viewer]) {
      expect(await refusal(send(h, "PUT", `${ofMembers}/${id}`, hana.headers, { roleKey: "reader" }))).toEqual(higher);
      expect(await refusal(send(h, "DELETE", `${ofMembers}/${id}`, hana.headers))).toEqual(higher);
      expect(await refusal(send(h, "POST", `${ofMembers}/${id}/password`, hana.headers))).toEqual(higher);
      expect(await refusal(send(h, "DELETE", `${ofMembers}/${id}/sessions`, hana.headers))).toEqual(higher);
    }
    const chief = `${ofMembers}/${await userIdOf(h, owner)}`;
    expect(await refusal(send(h, "DELETE", chief, hana.headers))).toEqual([403, "Only an Owner may remove an Owner"]);
    const reader = await holder(h, "reader");
    expect((await send(h, "POST", `${ofMembers}/${reader.id}/password`, hana.headers)).status).toBe(201);
    expect((await send(h, "DELETE", `${ofMembers}/${reader.id}`, hana.headers)).status).toBe(200);
    expect((await send(h, "DELETE", "/api/me/organizations/acme", hana.headers)).status).toBe(200);
  });

  test("in a role, by a token that is narrowed", async () => {
    const h = await managed();
    const owner = await createUser(h, "root@example.com");
    const organizationId = h.organization.id;
    const permissions = ["org.role:manage", "org.member:manage", "org:read"] as const;
    const { headers } = await issueToken(h, owner.id, { organizationId, permissions: [...permissions] });
    const denied = [403, "You can't grant audit_log:read"];
    expect(await refusal(send(h, "POST", path, headers, auditor))).toEqual(denied);
    await create(h, headers, { ...auditor, permissions: ["org:read"] });
    const { key: _, ...changes } = auditor;
    expect(await refusal(send(h, "PUT", `${path}/auditor`, headers, changes))).toEqual(denied);
    const eve = { email: "eve@example.com", roleKey: "admin" };
    expect(await refusal(send(h, "POST", ofMembers, headers, eve))).toEqual([403, "You can't grant agent:read"]);
  });
});

describe("an invitation", () => {
  /** Ada, invited by Hana as a reader. */
  async function invited() {
    const world = await withHana();
    const other = await world.h.createOrganization("other");
    const ada = await createUser({ ...world.h, organization: other }, "ada@example.com");
    const headers = await openSession(world.h, ada.id);
    const json = { email: ada.email, roleKey: "reader" };
    expect((await send(world.h, "POST", ofMembers, world.hana.headers, json)).status).toBe(201);
    const received = async () => (await (await world.h.request("/api/me/invitations", { headers })).json()).invitations;
    const [{ id }] = await received();
    const accept = () => send(world.h, "POST", `/api/me/invitations/${id}`, headers, { accept: true });
    return { ...world, ada, received, accept };
  }

  test("to a custom role is accepted", async () => {
    const { h, ada, accept } = await invited();
    expect((await (await accept()).json()).organization).toEqual({ slug: "acme", name: "acme", roleKey: "reader" });
    expect((await rolesIn(h, h.organization.id))[ada.id]).toBe("reader");
  });

  test.each([
    ["the inviter's role loses the right to invite", "people", ["org:read"]],
    ["the inviter's role loses what is offered", "people", ["org.member:manage"]],
    ["the role gains what the inviter lacks", "reader", ["org:read", "agent:read"]],
  ])("is void when %s", async (_what, key, permissions) => {
    const { h, owner, received, accept } = await invited();
    expect((await send(h, "PUT", `${path}/${key}`, owner, { name: key, permissions })).status).toBe(200);
    expect(await received()).toEqual([]);
    expect((await accept()).status).toBe(404);
  });

  test("ends with its role", async () => {
    const { h, owner, received } = await invited();
    expect((await send(h, "DELETE", `${path}/reader`, owner)).status).toBe(200);
    expect(await received()).toEqual([]);
    expect(await h.services.database.db.select().from(invitations)).toEqual([]);
  });
});

test.each([
  ["deleted and given", (first: () => Promise<Response>, second: () => Promise<Response>) => [first(), second()]],
  [
    "given and deleted",
    (first: () => Promise<Response>, second: () => Promise<Response>) => [second(), first()].reverse(),
  ],
] as const)("a role that is %s at once is never held without being there", async (_what, inOrder) => {
  const h = await managed();
  const owner = await h.as("owner");
  for (let round = 0; round < 4; round += 1) {
    const key = `role-${round}`;
    await create(h, owner, { key, name: key, permissions: [] });
    const { id } = await holder(h, "viewer");
    const remove = () => send(h, "DELETE", `${path}/${key}`, owner);
    const assign = () => send(h, "PUT", `${ofMembers}/${id}`, owner, { roleKey: key });
    const [removed, assigned] = await Promise.all(inOrder(remove, assign));
    const { db } = h.services.database;
    const held = await db.$count(members, eq(members.roleKey, key));
    const there = await db.$count(customRoles, eq(customRoles.key, key));
    expect([removed?.status, assigned?.status, held, there]).toBeOneOf([
      [200, 400, 0, 0],
      [409, 200, 1, 1],
    ]);
  }
});

test("a request finds its caller's role in the same statement, by its index", async () => {
  const h = await managed();
  const { db } = h.services.database;
  await db.execute(sql`
    with u as (
      insert into users (id, email, name) select gen_random_uuid(), 'u' || n || '@example.com', 'u' from generate_series(1, 3000) n
      returning id
    ), o as (
      insert into organizations (id, slug, name) select gen_random_uuid(), 'o' || n, 'o' from generate_series(1, 300) n returning id
    ), m as (
      insert into members (organization_id, user_id, role_key) select ${h.organization.id}, id, 'viewer' from u
    ), t as (
      insert into access_tokens (id, kind, digest, user_id)
      select gen_random_uuid(), 'session', decode(md5(id::text), 'hex'), id from u
    )
    insert into roles (id, organization_id, key, name, permissions)
    select gen_random_uuid(), id, 'role-' || n, 'x', '{}' from o, generate_series(1, 10) n`);
  const tables = ["roles", "access_tokens", "users", "members"];
  for (const table of tables) await db.execute(sql.raw(`analyze ${table}`));
  for (const table of tables) {
    const read = await keptIndexes(h.services.database, lookup.text, table);
    expect([table, read]).toSatisfy(([, places]) => places.length > 0 && places.every(([index]: string[]) => index));
  }
});

test("a custom role takes over no account of a workspace that it does not reach", async () => {
  const h = await managed();
  const owner = await h.as("owner");
  const { db } = h.services.database;
  const { roles } = await (await send(h, "GET", path, owner)).json();
  const member = roles.find(({ key }: { key: string }) => key === "member");
  await create(h, owner, { key: "lead", name: "Lead", permissions: [...member.permissions, "org.member:manage"] });
  const { headers } = await holder(h, "lead");
  const [here, board] = [h.organization.workspaceId, newId()];
  await db.insert(workspaces).values({ id: board, organizationId: h.organization.id, name: "Board" });
  const person = await createUser(h, "board@example.com", "member");
  const renew = () => send(h, "POST", `${ofMembers}/${person.id}/password`, headers);
  await db.insert(workspaceMembers).values([
    { workspaceId: here, userId: person.id },
    { workspaceId: board, userId: person.id },
  ]);
  const message = "This member is in a workspace that you don't reach: ask an Owner";
  expect(await refusal(await renew())).toEqual([403, message]);
  await db.delete(workspaceMembers).where(eq(workspaceMembers.workspaceId, board));
  expect((await renew()).status).toBe(201);
});

test("an Owner's narrowed token neither demotes nor removes an Owner", async () => {
  const h = await managed();
  const [one, two] = [await createUser(h, "one@example.com"), await createUser(h, "two@example.com")];
  const narrowed = {
    organizationId: h.organization.id,
    permissions: ["org.member:manage" as const, "org:write" as const],
  };
  const { headers } = await issueToken(h, one.id, narrowed);
  const higher = [403, "This member's role is higher than yours: ask an Owner"];
  const at = `${ofMembers}/${two.id}`;
  await create(h, await openSession(h, one.id), { key: "nobody", name: "Nobody", permissions: [] });
  expect(await refusal(await send(h, "PUT", at, headers, { roleKey: "nobody" }))).toEqual(higher);
  expect(await refusal(await send(h, "DELETE", at, headers))).toEqual(higher);
  expect((await send(h, "DELETE", at, await openSession(h, one.id))).status).toBe(200);
});

test.each(["%00", "x%00"])("a role whose key is %s is unknown", async (key) => {
  const h = await managed();
  const owner = await h.as("owner");
  const replaced = await send(h, "PUT", `${path}/${key}`, owner, { name: "A", permissions: [] });
  expect([replaced.status, (await send(h, "DELETE", `${path}/${key}`, owner)).status]).toEqual([404, 404]);
});
