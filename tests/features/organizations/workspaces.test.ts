import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { agents, workspaceMembers, workspaces } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { auditOf, entriesOf, type Headers, join, managementKey, nobody, oddIds, refusal, userIdOf } from "./callers.ts";

const at = (slug: string) => `/api/organizations/${slug}/workspaces`;
const path = at("acme");

const send = (h: Harness, method: string, headers: Headers, rest = "", json?: unknown) =>
  h.request(`${path}${rest}`, { method, headers, ...(json === undefined ? {} : { json }) });
const create = (h: Harness, headers: Headers, name: unknown) => send(h, "POST", headers, "", { name });
const made = async (h: Harness, name: string): Promise<string> =>
  (await (await create(h, await managementKey(h), name)).json()).workspace.id;
const names = async (h: Harness, headers: Headers): Promise<string[]> =>
  (await (await send(h, "GET", headers)).json()).workspaces.map(({ name }: { name: string }) => name);

describe("workspaces", () => {
  test("are made, renamed, listed by name and deleted", async () => {
    const h = await harness();
    const admin = await h.as("admin", { reach: false });
    const response = await create(h, admin, " support ");
    expect(response.status).toBe(201);
    const { workspace } = await response.json();
    expect(workspace).toEqual({
      id: expect.any(String),
      name: "support",
      agentCount: 0,
      memberCount: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(await names(h, admin)).toEqual(["default", "support"]);

    const renamed = await send(h, "PATCH", admin, `/${workspace.id}`, { name: "Care" });
    expect(renamed.status).toBe(200);
    expect((await renamed.json()).workspace).toMatchObject({ id: workspace.id, name: "Care" });
    expect(await names(h, admin)).toEqual(["Care", "default"]);

    const deleted = await send(h, "DELETE", admin, `/${workspace.id}`);
    expect([deleted.status, await deleted.json()]).toEqual([200, { deleted: true }]);
    expect(await names(h, admin)).toEqual(["default"]);
    expect((await send(h, "DELETE", admin, `/${workspace.id}`)).status).toBe(404);
    const audit = await auditOf(h);
    expect(audit.map(({ action, target, summary }) => [action, target, summary])).toEqual([
      ["workspace.create", "support", { id: workspace.id }],
      ["workspace.update", "support", { id: workspace.id, changes: { name: { from: "support", to: "Care" } } }],
      ["workspace.delete", "Care", { id: workspace.id }],
    ]);
    expect(new Set(audit.map(({ organizationId }) => organizationId))).toEqual(new Set([h.organization.id]));
  });

  test("show how many agents and entries they have, each their own", async () => {
    const h = await harness();
    await h.agent();
    await h.agent({ active: false });
    const second = await made(h, "second");
    const headers = await h.as("viewer");
    const id = await userIdOf(h, headers);
    await h.services.database.db.delete(workspaceMembers);
    await send(h, "PUT", await h.as("owner", { reach: false }), `/${second}/members/${id}`);
    const { workspaces: all } = await (await send(h, "GET", await managementKey(h))).json();
    expect(all).toMatchObject([
      { name: "default", agentCount: 2, memberCount: 0 },
      { name: "second", agentCount: 0, memberCount: 1 },
    ]);
    expect(JSON.stringify(all)).not.toContain(id);
  });

  test("list their members by name, to callers who reach them", async () => {
    const h = await harness();
    const second = await made(h, "second");
    const [admin, viewer] = [await h.as("admin", { reach: false }), await h.as("viewer")];
    const [id, member] = [await userIdOf(h, viewer), await userIdOf(h, await h.as("member"))];
    await send(h, "PUT", admin, `/${second}/members/${member}`);
    const listed = (headers: Headers, workspaceId: string) => send(h, "GET", headers, `/${workspaceId}/members`);
    const shape = (role: string, userId: string) => ({
      userId,
      email: `${role}-${userId}@example.com`,
      name: role,
      roleKey: role,
    });
    for (const headers of [admin, viewer, await managementKey(h)]) {
      const response = await listed(headers, h.organization.workspaceId);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ members: [shape("member", member), shape("viewer", id)] });
    }
    expect(await (await listed(admin, second)).json()).toEqual({ members: [shape("member", member)] });
    expect(await refusal(listed(viewer, second))).toEqual([404, "Workspace not found"]);
    expect((await listed({}, second)).status).toBe(401);
  });

  test("list a member of several organizations with the role held in theirs", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const id = await userIdOf(h, await h.as("viewer"));
    await join(h, other.id, id, "admin");
    const { members } = await (
      await send(h, "GET", await managementKey(h), `/${h.organization.workspaceId}/members`)
    ).json();
    expect(members.map(({ roleKey }: { roleKey: string }) => roleKey)).toEqual(["viewer"]);
  });

  test("are listed as far as the caller reaches", async () => {
    const h = await harness();
    await made(h, "second");
    for (const role of ["owner", "admin"] as const) {
      expect(await names(h, await h.as(role, { reach: false })), role).toEqual(["default", "second"]);
    }
    for (const role of ["member", "viewer"] as const) {
      expect(await names(h, await h.as(role)), role).toEqual(["default"]);
      expect(await names(h, await h.as(role, { reach: false })), role).toEqual([]);
    }
    expect((await h.request(path)).status).toBe(401);
  });

  test.each(["member", "viewer"] as const)("are not a %s's to change", async (role) => {
    const h = await harness();
    const headers = await h.as(role);
    const id = await userIdOf(h, headers);
    const own = `/${h.organization.workspaceId}`;
    const lacking = [403, "Missing permission: org.member:manage"];
    expect(await refusal(send(h, "POST", headers, "", "not even valid"))).toEqual(lacking);
    expect(await refusal(send(h, "PATCH", headers, own, { name: "Mine" }))).toEqual(lacking);
    expect(await refusal(send(h, "DELETE", headers, own))).toEqual(lacking);
    expect(await refusal(send(h, "PUT", headers, `${own}/members/${id}`))).toEqual(lacking);
    expect(await refusal(send(h, "DELETE", headers, `${own}/members/${id}`))).toEqual(lacking);
  });

  test("of another organization do not exist, byte for byte", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const stranger = await userIdOf(h, await h.as("viewer", { organization: other, reach: false }));
    const owner = await h.as("owner");
    const own = await userIdOf(h, owner);
    const text = async (response: Promise<Response>) => [(await response).status, await (await response).text()];
    const calls = [
      (id: string) => send(h, "PATCH", owner, `/${id}`, { name: "Mine" }),
      (id: string) => send(h, "DELETE", owner, `/${id}`),
      (id: string) => send(h, "GET", owner, `/${id}/members`),
      (id: string) => send(h, "PUT", owner, `/${id}/members/${own}`),
      (id: string) => send(h, "DELETE", owner, `/${id}/members/${own}`),
      (id: string) => send(h, "PUT", owner, `/${id}/members/${stranger}`),
    ];
    for (const call of calls) {
      const missing = await text(call(nobody));
      expect(missing).toEqual([404, '{"statusCode":404,"message":"Workspace not found","error":"Not Found"}']);
      for (const id of [other.workspaceId, ...oddIds]) expect(await text(call(id)), id).toEqual(missing);
    }
    for (const [method, rest, json] of [
      ["GET", ""],
      ["POST", "", { name: "Mine" }],
      ["PATCH", `/${other.workspaceId}`, { name: "Mine" }],
      ["DELETE", `/${other.workspaceId}`],
      ["GET", `/${other.workspaceId}/members`],
      ["PUT", `/${other.workspaceId}/members/${stranger}`],
    ] as const) {
      const response = h.request(`${at("other")}${rest}`, { method, headers: owner, ...(json ? { json } : {}) });
      expect(await refusal(response), method).toEqual([404, "Organization not found"]);
    }
    const rows = await h.services.database.db.select().from(workspaces);
    expect(rows.map(({ name }) => name)).toEqual(["default", "default"]);
    expect(await entriesOf(h, stranger)).toEqual([]);
  });

  test.each([
    [""],
    ["  "],
    ["x".repeat(129)],
    ["\u0000"],
    ["\ud800"],
    [null],
    [1],
    [undefined],
  ])("are not called %j", async (name) => {
    const h = await harness();
    const owner = await h.as("owner");
    const rename = send(h, "PATCH", owner, `/${h.organization.workspaceId}`, { name });
    for (const response of [await create(h, owner, name), await rename]) {
      expect(response.status).toBe(400);
      expect((await response.json()).message).toMatch(/^name: /);
    }
  });
});

describe("the name of a workspace", () => {
  test("is its own in the organization, whatever the case", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await h.createOrganization("other");
    const id = await made(h, "Straße Österreich");
    for (const name of ["DEFAULT", "straße ÖSTERREICH", "Straße O\u0308sterreich"]) {
      expect((await create(h, owner, name)).status, name).toBe(409);
    }
    expect(await refusal(send(h, "PATCH", owner, `/${id}`, { name: "Default" }))).toEqual([
      409,
      "There is a workspace default already",
    ]);
    expect((await send(h, "PATCH", owner, `/${id}`, { name: "STRASSE" })).status).toBe(200);
    expect((await send(h, "PATCH", owner, `/${id}`, { name: "Strasse" })).status).toBe(200);
    expect(await names(h, owner)).toEqual(["default", "Strasse"]);
  });

  test("is given once when asked for several times at the same time", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const responses = await Promise.all(["new", "New", "NEW", "nEw"].map((name) => create(h, owner, name)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });
});

describe("deleting a workspace", () => {
  test("is refused while it holds agents", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const second = await made(h, "second");
    const { slug } = await h.agent({ workspaceId: second });
    const drop = () => send(h, "DELETE", owner, `/${second}`);
    expect(await refusal(drop())).toEqual([409, "The workspace holds 1 agent: move or delete it first"]);
    await h.agent({ workspaceId: second });
    expect(await refusal(drop())).toEqual([409, "The workspace holds 2 agents: move or delete them first"]);
    await h.services.database.db.delete(agents);
    expect((await drop()).status).toBe(200);
    expect((await h.request(`/api/instances/${slug}`, { headers: owner })).status).toBe(404);
  });

  test("is refused for the last one, also when all are deleted at the same time", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    await h.createOrganization("other");
    const drop = (id: string) => send(h, "DELETE", owner, `/${id}`);
    expect(await refusal(drop(h.organization.workspaceId))).toEqual([
      409,
      "The last workspace stays: create another one first",
    ]);
    const ids = [h.organization.workspaceId, await made(h, "b"), await made(h, "c")];
    const responses = await Promise.all(ids.map(drop));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 409]);
    expect(await names(h, owner)).toHaveLength(1);
  });

  test("at the same time as agents are put into it leaves no agent without one", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const second = await made(h, "second");
    const put = (slug: string) =>
      h.request("/api/instances", { method: "POST", headers: owner, json: { slug, workspaceId: second } });
    const [dropped, ...agentsMade] = await Promise.all([
      send(h, "DELETE", owner, `/${second}`),
      put("a"),
      put("b"),
      put("c"),
    ]);
    const statuses = agentsMade.map(({ status }) => status);
    const rows = await h.services.database.db.select().from(agents).where(eq(agents.workspaceId, second));
    expect(rows).toHaveLength(statuses.filter((status) => status === 201).length);
    expect(statuses.every((status) => status === 201 || status === 404)).toBe(true);
    expect(dropped?.status).toBe(rows.length === 0 ? 200 : 409);
  });

  test("takes the entries with it", async () => {
    const h = await harness();
    const owner = await h.as("owner");
    const id = await userIdOf(h, await h.as("viewer", { reach: false }));
    const second = await made(h, "second");
    await send(h, "PUT", owner, `/${second}/members/${id}`);
    expect(await entriesOf(h, id)).toEqual([second]);
    await send(h, "DELETE", owner, `/${second}`);
    expect(await entriesOf(h, id)).toEqual([]);
  });
});

describe("an entry in a workspace", () => {
  test("opens it and closes it from the next call on, and does so once", async () => {
    const h = await harness();
    const admin = await h.as("admin");
    const { slug } = await h.agent();
    const member = await h.as("member", { reach: false });
    const id = await userIdOf(h, member);
    const entry = `/${h.organization.workspaceId}/members/${id}`;
    const status = async () => (await h.request(`/api/instances/${slug}`, { headers: member })).status;
    expect(await status()).toBe(404);
    for (let times = 0; times < 2; times += 1) {
      const assigned = await send(h, "PUT", admin, entry);
      expect([assigned.status, await assigned.json()]).toEqual([200, { assigned: true }]);
      expect(await status()).toBe(200);
    }
    for (let times = 0; times < 2; times += 1) {
      const removed = await send(h, "DELETE", admin, entry);
      expect([removed.status, await removed.json()]).toEqual([200, { removed: true }]);
      expect(await status()).toBe(404);
    }
    const summary = { workspaceId: h.organization.workspaceId, userId: id, workspace: "default" };
    const audit = (await auditOf(h)).filter(({ action }) => action.startsWith("workspace-member."));
    expect(audit.map((row) => [row.action, row.summary])).toEqual([
      ["workspace-member.add", summary],
      ["workspace-member.remove", summary],
    ]);
  });

  test("is for members of the organization", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const stranger = await userIdOf(h, await h.as("viewer", { organization: other, reach: false }));
    for (const headers of [await h.as("owner"), await managementKey(h)]) {
      for (const method of ["PUT", "DELETE"]) {
        for (const id of [stranger, nobody, ...oddIds]) {
          const response = send(h, method, headers, `/${h.organization.workspaceId}/members/${id}`);
          expect(await refusal(response), `${method} ${id}`).toEqual([404, "Member not found"]);
        }
      }
    }
    expect(await entriesOf(h, stranger)).toEqual([]);
  });

  test("does not outlive a membership that ends at the same time", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const owner = await h.as("owner");
    const id = await userIdOf(h, await h.as("viewer", { reach: false }));
    await join(h, other.id, id, "viewer");
    const [removed, assigned] = await Promise.all([
      h.request(`/api/organizations/acme/members/${id}`, { method: "DELETE", headers: owner }),
      send(h, "PUT", owner, `/${h.organization.workspaceId}/members/${id}`),
    ]);
    expect(removed.status).toBe(200);
    expect([200, 404]).toContain(assigned.status);
    expect(await entriesOf(h, id)).toEqual([]);
  });
});
