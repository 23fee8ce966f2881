import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { RoleKey } from "../../../src/core/credentials/permissions.ts";
import { accessTokens, invitations } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { createUser, openSession, password, signIn, statusOf } from "../account/people.ts";
import { auditOf, type Headers, join, managementKey, nobody, refusal, rolesIn, userIdOf } from "./callers.ts";

const email = "ada@example.com";
const members = "/api/organizations/acme/members";
const renew = (h: Harness, headers: Headers, userId: string) =>
  h.request(`${members}/${userId}/password`, { method: "POST", headers });
const endSessions = (h: Harness, headers: Headers, userId: string) =>
  h.request(`${members}/${userId}/sessions`, { method: "DELETE", headers });
const both = [renew, endSessions];

async function withAda(role: RoleKey = "member") {
  const h = await harness();
  const ada = await createUser(h, email, role);
  return { h, ada: { ...ada, headers: await openSession(h, ada.id) } };
}

describe("renewing a member's password", () => {
  test("shows a new one once, ends the sessions and ties the account to the organization", async () => {
    const { h, ada } = await withAda();
    const admin = await h.as("admin");
    for (let attempt = 0; attempt < 11; attempt += 1) await signIn(h, { email, password: "wrong" });
    const other = await h.createOrganization("other");
    const offer = { organizationId: other.id, userId: ada.id, roleKey: "viewer", invitedByUser: ada.id };
    await h.services.database.db.insert(invitations).values({ ...offer, expiresAt: new Date("2999-01-01") });

    const response = await renew(h, admin, ada.id);
    const body = await response.json();
    expect([response.status, body]).toEqual([
      201,
      { password: expect.stringMatching(/^[\w-]{16}$/), sessionsEnded: 1 },
    ]);
    expect(await statusOf(h, ada.headers)).toBe(401);
    expect((await signIn(h, { email, password })).status).toBe(401);
    const session = await signIn(h, { email, password: body.password });
    expect(session.status).toBe(200);
    const headers = { Authorization: `Bearer ${(await session.json()).token}` };
    const me = await (await h.request("/api/me", { headers })).json();
    expect(me.user.passwordChangeRequired).toBe(true);
    const { members: listed } = await (await h.request(members, { headers })).json();
    expect(listed).toContainEqual(expect.objectContaining({ email, passwordPending: true }));
    expect(await h.services.database.db.select().from(invitations)).toEqual([]);
    const audit = await auditOf(h);
    expect(audit.filter(({ organizationId }) => organizationId === other.id)).toMatchObject([
      {
        action: "invitation.delete",
        target: email,
        actorType: "system",
        actorId: null,
        ip: "",
        summary: { roleKey: "viewer" },
      },
    ]);
    expect(audit.find(({ action }) => action === "password.renew")).toMatchObject({
      target: email,
      summary: { userId: ada.id, sessionsEnded: 1 },
    });
    expect(JSON.stringify([audit, h.logs])).not.toContain(body.password);
  });

  test("can't replace one's own password without the current one", async () => {
    const { h, ada } = await withAda("owner");
    const own = [409, "This is your own account: use /api/me/password and /api/me/sessions"];
    for (const act of both) {
      expect(await refusal(act(h, ada.headers, ada.id))).toEqual(own);
      expect(await refusal(act(h, ada.headers, ada.id.toUpperCase()))).toEqual(own);
    }
    expect(await statusOf(h, ada.headers)).toBe(200);
  });

  test("needs a role as high as the member's, and a person for an Owner", async () => {
    const { h, ada } = await withAda("owner");
    await h.as("owner");
    const [admin, key] = [await h.as("admin"), await managementKey(h)];
    for (const act of both) {
      const lacking = [403, "Missing permission: org.member:manage"];
      expect(await refusal(act(h, await h.as("member"), ada.id))).toEqual(lacking);
      expect(await refusal(act(h, admin, ada.id))).toEqual([
        403,
        "This member's role is higher than yours: ask an Owner",
      ]);
      expect(await refusal(act(h, key, ada.id))).toEqual([
        403,
        "Only a person may manage an Owner's account, never a management key",
      ]);
    }
    expect(await statusOf(h, ada.headers)).toBe(200);
    expect((await renew(h, await h.as("owner"), ada.id)).status).toBe(201);
    const peer = await userIdOf(h, await h.as("admin"));
    expect((await renew(h, admin, peer)).status).toBe(201);
    expect((await renew(h, key, peer)).status).toBe(201);
  });

  test("is only for who belongs nowhere else", async () => {
    const { h, ada } = await withAda();
    const other = await h.createOrganization("other");
    await join(h, other.id, ada.id, "viewer");
    const message = "This account belongs to other organizations too: only its holder manages it";
    for (const act of both) expect(await refusal(act(h, await h.as("owner"), ada.id))).toEqual([409, message]);
    expect((await signIn(h, { email, password })).status).toBe(200);
    const stranger = await h.as("owner", { organization: await h.createOrganization("third") });
    expect((await renew(h, stranger, ada.id)).status).toBe(404);
    expect((await renew(h, await h.as("owner"), nobody)).status).toBe(404);
  });
});

test("an Admin signs a member out everywhere, and nowhere twice", async () => {
  const { h, ada } = await withAda();
  await openSession(h, ada.id);
  const admin = await h.as("admin");
  const response = await endSessions(h, admin, ada.id);
  expect([response.status, await response.json()]).toEqual([200, { deleted: true, count: 2 }]);
  expect(await statusOf(h, ada.headers)).toBe(401);
  expect(await h.services.database.db.select().from(accessTokens).where(eq(accessTokens.userId, ada.id))).toEqual([]);
  expect(await (await endSessions(h, admin, ada.id)).json()).toEqual({ deleted: true, count: 0 });
  expect((await auditOf(h)).map(({ action, target }) => [action, target])).toEqual([["session.end", email]]);
});

describe("leaving an organization", () => {
  const leave = (h: Harness, headers: Headers, slug = "acme") =>
    h.request(`/api/me/organizations/${slug}`, { method: "DELETE", headers });

  test("takes it from the caller at once", async () => {
    const { h, ada } = await withAda("viewer");
    await h.as("owner");
    expect((await leave(h, ada.headers, "nowhere")).status).toBe(404);
    const response = await leave(h, ada.headers);
    expect([response.status, await response.json()]).toEqual([200, { deleted: true }]);
    expect(await rolesIn(h, h.organization.id)).not.toHaveProperty(ada.id);
    expect((await h.request(members, { headers: ada.headers })).status).toBe(404);
    expect((await leave(h, ada.headers)).status).toBe(404);
    expect((await auditOf(h)).at(-1)).toMatchObject({ action: "member.leave", actorId: ada.id, target: email });
  });

  test("is not for the last Owner, nor for a management key", async () => {
    const { h, ada } = await withAda("owner");
    expect(await refusal(leave(h, ada.headers))).toEqual([
      409,
      "The last Owner stays: make another member an Owner first",
    ]);
    expect((await leave(h, await managementKey(h))).status).toBe(403);
    await h.as("owner");
    expect((await leave(h, ada.headers)).status).toBe(200);
  });
});
