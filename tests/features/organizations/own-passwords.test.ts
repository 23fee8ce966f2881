import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { users } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { password, signIn } from "../account/people.ts";
import { type Headers, join, managementKey, refusal, userIdOf } from "./callers.ts";

const email = "ceo@example.com";
const newPassword = "another horse battery";

const add = (h: Harness, headers: Headers, slug: string, json: Record<string, unknown>) =>
  h.request(`/api/organizations/${slug}/members`, { method: "POST", headers, json: { email, ...json } });
const issueKey = (h: Harness, headers: Headers, slug: string) =>
  h.request(`/api/organizations/${slug}/management-keys`, { method: "POST", headers, json: { name: "k" } });
const choose = (h: Harness, headers: Headers, slug: string) =>
  h.request("/api/me/organization", { method: "PUT", headers, json: { slug } });
const changePassword = (h: Harness, headers: Headers) =>
  h.request("/api/me/password", { method: "POST", headers, json: { currentPassword: password, newPassword } });
const me = async (h: Harness, headers: Headers) => (await (await h.request("/api/me", { headers })).json()).user;
const slugsOf = (list: { slug: string }[]) => list.map(({ slug }) => slug);

async function session(h: Harness, secret = password): Promise<Headers> {
  const { token } = await (await signIn(h, { email, password: secret })).json();
  return { Authorization: `Bearer ${token}` };
}

/** An Admin of `lab` gave the account its password; it is an Owner of `acme`, too. */
async function joined() {
  const h = await harness();
  const lab = await h.createOrganization("lab");
  const [owner, admin] = [await h.as("owner"), await h.as("admin", { organization: lab })];
  expect((await add(h, admin, "lab", { roleKey: "viewer", password })).status).toBe(201);
  const [user] = await h.services.database.db.select().from(users).where(eq(users.email, email));
  await join(h, h.organization.id, user?.id ?? "", "owner");
  return { h, lab, owner, admin, headers: await session(h) };
}

describe("a password that another organization's Admin set", () => {
  test("opens that organization alone; the others do not exist, byte for byte", async () => {
    const { h, headers } = await joined();
    await h.createOrganization("foreign");
    const text = async (response: Promise<Response>) => [(await response).status, await (await response).text()];
    const foreign = await text(issueKey(h, headers, "foreign"));
    expect(foreign[0]).toBe(404);
    expect(await text(issueKey(h, headers, "acme"))).toEqual(foreign);
    expect(await text(choose(h, headers, "acme"))).toEqual(foreign);
    const addressed = { ...headers, "X-Organization": "acme" };
    expect(await text(h.request("/api/instances", { headers: addressed }))).toEqual(foreign);
    expect(await text(h.request("/v1/models", { headers: addressed }))).toEqual(foreign);
    expect(await refusal(h.request("/api/installation/policies", { headers }))).toEqual([
      403,
      "Missing permission: policy:manage",
    ]);
    expect((await h.request("/api/organizations/lab/members", { headers })).status).toBe(200);
    const { organizations } = await (await h.request("/api/organizations", { headers })).json();
    expect(slugsOf(organizations)).toEqual(["lab"]);
    const user = await me(h, headers);
    expect([slugsOf(user.organizations), user.passwordChangeRequired]).toEqual([["lab"], true]);
  });

  test("reaches all of them at once, with the same session, when the holder changes it", async () => {
    const { h, headers } = await joined();
    expect((await changePassword(h, headers)).status).toBe(200);
    const user = await me(h, headers);
    expect(slugsOf(user.organizations)).toEqual(["acme", "lab"]);
    expect(user).not.toHaveProperty("passwordChangeRequired");
    expect((await issueKey(h, headers, "acme")).status).toBe(201);
    expect((await choose(h, headers, "acme")).status).toBe(200);
  });

  test("reaches nothing once its organization removed the account", async () => {
    const { h, admin, headers } = await joined();
    const { id } = await me(h, headers);
    const path = `/api/organizations/lab/members/${id}`;
    expect((await h.request(path, { method: "DELETE", headers: admin })).status).toBe(200);
    expect((await me(h, headers)).organizations).toEqual([]);
    expect((await issueKey(h, headers, "acme")).status).toBe(404);
    expect((await h.request("/api/instances", { headers })).status).toBe(403);
  });

  test("is the holder's again after a rescue on the machine", async () => {
    const { h } = await joined();
    const reset = await h.engine.resetPassword(email);
    const user = await me(h, await session(h, reset.password));
    expect(slugsOf(user.organizations)).toEqual(["acme", "lab"]);
    expect(user).not.toHaveProperty("passwordChangeRequired");
  });
});

describe("the list of members", () => {
  const listed = async (h: Harness, headers: Headers, slug: string) => {
    const { members } = await (await h.request(`/api/organizations/${slug}/members`, { headers })).json();
    return members.find((member: { email: string }) => member.email === email);
  };

  test("marks whose password somebody else knows, in every organization, until it is changed", async () => {
    const { h, owner, admin, headers } = await joined();
    expect((await listed(h, owner, "acme")).passwordPending).toBe(true);
    expect((await listed(h, admin, "lab")).passwordPending).toBe(true);
    await changePassword(h, headers);
    expect(await listed(h, owner, "acme")).not.toHaveProperty("passwordPending");
    const others = await (await h.request("/api/organizations/acme/members", { headers: owner })).json();
    expect(JSON.stringify(others)).not.toMatch(/passwordSetBy|passwordPending/);
  });
});

test("the account says who set its password: a person or a key, a given or a generated one", async () => {
  const h = await harness();
  const admin = await h.as("admin");
  const key = await managementKey(h);
  const [token] = await h.services.database.query<{ id: string }>(
    "select id from access_tokens where kind = 'management'",
    [],
  );
  const calls = [
    { headers: admin, json: { email: "a@example.com", roleKey: "viewer" }, by: await userIdOf(h, admin) },
    { headers: key, json: { email: "b@example.com", roleKey: "viewer", password }, by: token?.id },
  ];
  for (const { headers, json, by } of calls) {
    expect((await add(h, headers, "acme", json)).status).toBe(201);
    const [user] = await h.services.database.db.select().from(users).where(eq(users.email, json.email));
    expect(user).toMatchObject({ passwordSetBy: by, passwordOrganization: h.organization.id });
  }
});
