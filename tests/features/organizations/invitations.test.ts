import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { invitations, members as memberships, users } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, openSession, password, signIn } from "../account/people.ts";
import { auditOf, type Headers, managementKey, nobody, oddIds, refusal, rolesIn, userIdOf } from "./callers.ts";

const email = "ada@example.com";
const day = 24 * 60 * 60 * 1000;
const members = "/api/organizations/acme/members";

const invite = (h: Harness, headers: Headers, roleKey = "member") =>
  h.request(members, { method: "POST", headers, json: { email, name: "Not Ada", roleKey, password: "another one" } });
const sent = async (h: Harness, headers: Headers) =>
  (await (await h.request("/api/organizations/acme/invitations", { headers })).json()).invitations;
const received = async (h: Harness, headers: Headers) =>
  (await (await h.request("/api/me/invitations", { headers })).json()).invitations;
const answer = (h: Harness, headers: Headers, id: string, accept: unknown = true) =>
  h.request(`/api/me/invitations/${id}`, { method: "POST", headers, json: { accept } });
const organizationsOf = async (h: Harness, headers: Headers) =>
  (await (await h.request("/api/me", { headers })).json()).user.organizations.map(({ slug }: { slug: string }) => slug);

/** Ada has an account in `other`, and a password of her own. */
async function withAda() {
  const h = await harness();
  const other = await h.createOrganization("other");
  const ada = await createUser({ ...h, organization: other }, email);
  return { h, other, ada: { ...ada, headers: await openSession(h, ada.id) }, owner: await h.as("owner") };
}

/** Ada's headers and the id of her invitation by `headers`. */
async function invited(roleKey = "member") {
  const world = await withAda();
  expect((await invite(world.h, world.owner, roleKey)).status).toBe(201);
  const [{ id }] = await received(world.h, world.ada.headers);
  return { ...world, id };
}

describe("an e-mail that has an account", () => {
  test("is invited, and nothing of the account is shown, changed or logged", async () => {
    const { h, ada, owner } = await withAda();
    const response = await invite(h, owner);
    expect([response.status, await response.json()]).toEqual([201, { invited: true }]);
    expect(await rolesIn(h, h.organization.id)).not.toHaveProperty(ada.id);
    expect((await signIn(h, { email, password: "another one" })).status).toBe(401);
    expect((await signIn(h, { email, password })).status).toBe(200);
    const log = (await auditOf(h)).filter(({ organizationId }) => organizationId === h.organization.id);
    expect(log.map(({ action, target }) => [action, target])).toEqual([["invitation.create", email]]);
    const seen = JSON.stringify([log, await sent(h, owner)]);
    for (const secret of [ada.id, '"Ada"', "another one"]) expect(seen).not.toContain(secret);
    expect(await sent(h, owner)).toEqual([
      {
        id: expect.any(String),
        email,
        roleKey: "member",
        invitedBy: "owner",
        createdAt: new Date(h.clock.now()).toISOString(),
        expiresAt: new Date(h.clock.now() + 14 * day).toISOString(),
      },
    ]);
  });

  test("joins when its holder accepts, once", async () => {
    const { h, ada, owner, id } = await invited();
    expect(await received(h, ada.headers)).toMatchObject([
      { id, roleKey: "member", invitedBy: "owner", organization: { slug: "acme", name: "acme" } },
    ]);
    const response = await answer(h, ada.headers, id);
    expect([response.status, await response.json()]).toEqual([
      200,
      { accepted: true, organization: { slug: "acme", name: "acme", roleKey: "member" } },
    ]);
    expect((await rolesIn(h, h.organization.id))[ada.id]).toBe("member");
    expect(await organizationsOf(h, ada.headers)).toEqual(["acme", "other"]);
    expect((await auditOf(h)).at(-1)).toMatchObject({
      action: "invitation.accept",
      target: email,
      actorId: ada.id,
      organizationId: h.organization.id,
      ip: "",
      summary: { roleKey: "member" },
    });
    expect([await sent(h, owner), await received(h, ada.headers)]).toEqual([[], []]);
    expect((await answer(h, ada.headers, id)).status).toBe(404);
    expect(await refusal(invite(h, owner))).toEqual([409, `${email} is a member already`]);
  });

  test("joins last when the time was set back: only the log of the organization joined first shows addresses", async () => {
    const { h, other, ada, id } = await invited();
    const { db } = h.services.database;
    await db
      .update(memberships)
      .set({ createdAt: sql`now() + interval '1 day'` })
      .where(eq(memberships.userId, ada.id));
    expect((await answer(h, ada.headers, id)).status).toBe(200);
    expect((await signIn(h, { email, password })).status).toBe(200);
    const signIns = (await auditOf(h)).filter(({ action }) => action === "session.create");
    expect(Object.fromEntries(signIns.map(({ organizationId, ip }) => [organizationId, ip]))).toEqual({
      [other.id]: "192.0.2.1",
      [h.organization.id]: "",
    });
  });

  test("does not join when its holder declines, and the name stays unknown", async () => {
    const { h, ada, owner, id } = await invited();
    const response = await answer(h, ada.headers, id, false);
    expect([response.status, await response.json()]).toEqual([200, { accepted: false }]);
    expect(await rolesIn(h, h.organization.id)).not.toHaveProperty(ada.id);
    expect(await sent(h, owner)).toEqual([]);
    expect((await auditOf(h)).at(-1)).toMatchObject({ action: "invitation.decline", actorId: null, actorName: null });
  });

  test("is invited again with another role and a new end", async () => {
    const { h, ada, owner, id } = await invited();
    await h.clock.advance(10 * day);
    expect((await invite(h, owner, "viewer")).status).toBe(201);
    await h.clock.advance(10 * day);
    const [again] = await received(h, ada.headers);
    expect(again).toMatchObject({ id, roleKey: "viewer" });
    expect((await answer(h, ada.headers, id)).status).toBe(200);
    expect((await rolesIn(h, h.organization.id))[ada.id]).toBe("viewer");
  });

  test("joins once when its holder accepts several times at once", async () => {
    const { h, ada, id } = await invited();
    const statuses = await Promise.all([1, 2, 3].map(async () => (await answer(h, ada.headers, id)).status));
    expect(statuses.sort()).toEqual([200, 404, 404]);
  });
});

describe("an invitation", () => {
  /** It is on neither list, and accepting it gives the answer of a missing one. */
  async function expectVoid(h: Harness, { headers, id: userId }: { headers: Headers; id: string }, id: string) {
    expect(await received(h, headers)).toEqual([]);
    const missing = await refusal(answer(h, headers, nobody));
    expect(missing).toEqual([404, "Invitation not found"]);
    expect(await refusal(answer(h, headers, id))).toEqual(missing);
    expect(await rolesIn(h, h.organization.id)).not.toHaveProperty(userId);
  }

  test("ends after 14 days, and its row is deleted", async () => {
    const { h, ada, owner, id } = await invited();
    await h.clock.advance(14 * day + 1);
    await expectVoid(h, ada, id);
    expect(await sent(h, owner)).toEqual([]);
    await h.engine.tick();
    expect(await h.services.database.db.select().from(invitations)).toEqual([]);
  });

  test("is somebody's own", async () => {
    const { h, id } = await invited();
    const stranger = await h.as("owner");
    expect(await received(h, stranger)).toEqual([]);
    for (const one of [id, ...oddIds])
      expect(await refusal(answer(h, stranger, encodeURIComponent(one)))).toEqual([404, "Invitation not found"]);
  });

  test("can be withdrawn by an Admin of its organization alone", async () => {
    const { h, other, ada, id } = await invited();
    const withdraw = (headers: Headers, slug = "acme") =>
      h.request(`/api/organizations/${slug}/invitations/${id}`, { method: "DELETE", headers });
    expect((await withdraw(await h.as("member"))).status).toBe(403);
    expect((await withdraw(await h.as("admin", { organization: other }), "other")).status).toBe(404);
    const response = await withdraw(await h.as("admin"));
    expect([response.status, await response.json()]).toEqual([200, { deleted: true }]);
    await expectVoid(h, ada, id);
    expect((await auditOf(h)).at(-1)).toMatchObject({ action: "invitation.delete", target: email });
  });

  test.each([
    ["the inviter is removed", "member", null],
    ["the inviter is a Member now", "member", "member"],
    ["the inviter of an Owner is an Admin now", "owner", "admin"],
  ])("is void when %s", async (_what, role, becomes) => {
    const { h, ada, owner, id } = await invited(role);
    const [chief, inviter] = [await h.as("owner"), `${members}/${await userIdOf(h, owner)}`];
    const change = becomes
      ? { method: "PUT", headers: chief, json: { roleKey: becomes } }
      : { method: "DELETE", headers: chief };
    expect((await h.request(inviter, change)).status).toBe(200);
    await expectVoid(h, ada, id);
    expect(await sent(h, chief)).toEqual([]);
  });

  test("by a management key ends with the key", async () => {
    const { h, ada, owner } = await withAda();
    expect((await invite(h, await managementKey(h))).status).toBe(201);
    const [{ id, invitedBy }] = await received(h, ada.headers);
    expect(invitedBy).toBe("CI");
    const keys = "/api/organizations/acme/management-keys";
    const { managementKeys } = await (await h.request(keys, { headers: owner })).json();
    const [key] = managementKeys;
    expect((await h.request(`${keys}/${key.id}`, { method: "DELETE", headers: owner })).status).toBe(200);
    await expectVoid(h, ada, id);
  });

  test("can't be accepted while another person knows the account's password", async () => {
    const { h, ada, id } = await invited();
    const { db } = h.services.database;
    const set = (passwordOrganization: string | null) =>
      db.update(users).set({ passwordOrganization }).where(eq(users.id, ada.id));
    await set(nobody);
    await expectVoid(h, ada, id);
    await set(null);
    expect((await answer(h, ada.headers, id)).status).toBe(200);
  });
});
