import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { auditLogs, users } from "../../../src/db/schema.ts";
import { countCall } from "../../../src/db/throttle.ts";
import { type Harness, harness } from "../../harness.ts";
import { cookieOf, createUser, join, openSession, password, signIn, statusOf } from "./people.ts";

type Headers = Record<string, string>;

const minute = 60_000;
const email = "ada@example.com";
const newPassword = "another horse battery";

const change = (h: Harness, headers: Headers, json: unknown) =>
  h.request("/api/me/password", { method: "POST", headers, json });

async function ada() {
  const h = await harness();
  const user = await createUser(h, email);
  return { h, user, headers: await openSession(h, user.id) };
}

describe("changing the password", () => {
  test("opens the account with the new one only, and ends the other sessions", async () => {
    const { h, user, headers } = await ada();
    const bobs = await openSession(h, (await createUser(h, "bob@example.com")).id);
    const other = await openSession(h, user.id);
    const response = await change(h, headers, { currentPassword: password, newPassword });
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    expect(response.headers.get("Set-Cookie")).toBeNull();
    expect(await Promise.all([headers, other, bobs].map((each) => statusOf(h, each)))).toEqual([200, 401, 200]);
    expect((await signIn(h, { email, password })).status).toBe(401);
    expect((await signIn(h, { email, password: newPassword })).status).toBe(200);
  });

  test("with a wrong current one is a 400 that names it, also for an account without a password", async () => {
    const { h, user, headers } = await ada();
    const other = await openSession(h, user.id);
    const wrong = await change(h, headers, { currentPassword: "guess", newPassword });
    expect(wrong.status).toBe(400);
    const text = await wrong.text();
    expect(JSON.parse(text).issues).toMatchObject([{ path: "currentPassword" }]);
    expect(await statusOf(h, other)).toBe(200);

    await h.services.database.db.update(users).set({ passwordHash: null }).where(eq(users.id, user.id));
    const none = await change(h, headers, { currentPassword: "guess", newPassword });
    expect([none.status, await none.text()]).toEqual([400, text]);
    expect((await signIn(h, { email, password: newPassword })).status).toBe(401);
  });

  test("at the same time by two sessions succeeds once", async () => {
    const { h, user, headers } = await ada();
    const second = await openSession(h, user.id);
    const answers = await Promise.all([
      change(h, headers, { currentPassword: password, newPassword }),
      change(h, second, { currentPassword: password, newPassword: `${newPassword}!` }),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const winner = statuses.indexOf(200);
    expect([400, 401]).toContain(statuses[1 - winner]);
    expect(await Promise.all([headers, second].map((each) => statusOf(h, each)))).toEqual(
      winner === 0 ? [200, 401] : [401, 200],
    );
  });

  test("leaves no session of a sign-in that had checked the old one", async () => {
    const { h, user } = await ada();
    const { passwords } = h.services;
    const verify = vi.spyOn(passwords, "verify").mockImplementationOnce(async () => {
      await h.engine.resetPassword(email);
      return true;
    });
    const response = await signIn(h, { email, password });
    verify.mockRestore();
    expect(response.status).toBe(401);
    const sessions = await h.services.database.query("select 1 from access_tokens where user_id = $1", [user.id]);
    expect(sessions).toEqual([]);
  });

  test.each([
    [{ currentPassword: password, newPassword: password }, "newPassword"],
    [{ currentPassword: "e\u0301 and six more", newPassword: "\u00e9 and six more" }, "newPassword"],
    [{ currentPassword: password, newPassword: "short" }, "newPassword"],
    [{ currentPassword: password, newPassword: "x".repeat(257) }, "newPassword"],
    [{ currentPassword: password, newPassword: "long enough\u0000" }, "newPassword"],
    [{ currentPassword: password, newPassword: { $ne: "" } }, "newPassword"],
    [{ currentPassword: password }, "newPassword"],
    [{ newPassword }, "currentPassword"],
    [{ currentPassword: "", newPassword }, "currentPassword"],
  ])("answers 400 to %j", async (body, field) => {
    const { h, headers } = await ada();
    const response = await change(h, headers, body);
    expect(response.status).toBe(400);
    expect((await response.json()).issues).toMatchObject([{ path: field }]);
  });

  test("with the cookie is for pages of ours only", async () => {
    const { h } = await ada();
    const cookie = { Cookie: cookieOf(await signIn(h, { email, password })) };
    const foreign = { ...cookie, Origin: "https://evil.example" };
    expect((await change(h, foreign, { currentPassword: password, newPassword })).status).toBe(403);
    expect((await signIn(h, { email, password })).status).toBe(200);
  });
});

describe("guessing the current password with a stolen session", () => {
  test("ends after 10 wrong ones, whatever the session and the address, for 15 minutes", async () => {
    const { h, user, headers } = await ada();
    for (let call = 0; call < 8; call += 1) {
      await countCall(h.services, `password:${user.id}`, { calls: 10, windowMs: 15 * minute });
    }
    const second = await openSession(h, user.id);
    const guesses = await Promise.all(
      [headers, second, headers].map((each) => change(h, each, { currentPassword: "guess", newPassword })),
    );
    expect(guesses.map(({ status }) => status).sort()).toEqual([400, 400, 429]);
    const refused = await change(h, second, { currentPassword: password, newPassword });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("Retry-After")).toBe("900");
    expect((await refused.json()).message).toBe("Too many wrong passwords: try again in 900 seconds");
    expect(await statusOf(h, headers)).toBe(200);

    await h.clock.advance(15 * minute);
    expect((await change(h, headers, { currentPassword: password, newPassword })).status).toBe(200);
  });

  test("begins afresh after a success and after a rescue", async () => {
    const { h, user, headers } = await ada();
    const failures = () =>
      h.services.database.query("select count from throttles where key = $1", [`password:${user.id}`]);
    await change(h, headers, { currentPassword: "guess", newPassword });
    expect(await failures()).toEqual([{ count: 1 }]);
    await change(h, headers, { currentPassword: password, newPassword });
    expect(await failures()).toEqual([]);
    await change(h, headers, { currentPassword: "guess", newPassword: password });
    await h.engine.resetPassword(email);
    expect(await failures()).toEqual([]);
  });

  test("is not what a check is that could not be made", async () => {
    const { h, user, headers } = await ada();
    const busy = new EngineError("unavailable", "Too many sign-ins at once; try again", {
      retryAfterSeconds: 1,
    });
    const verify = vi.spyOn(h.services.passwords, "verify").mockRejectedValueOnce(busy);
    const response = await change(h, headers, { currentPassword: password, newPassword });
    verify.mockRestore();
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
    const counted = await h.services.database.query("select count from throttles where key = $1", [
      `password:${user.id}`,
    ]);
    expect(counted).toEqual([{ count: 0 }]);
  });
});

test("changes and failures are in the log of every organization of the user, without a password", async () => {
  const { h, user, headers } = await ada();
  const lab = await join(h, user.id, "lab");
  await change(h, headers, { currentPassword: "not this one", newPassword });
  await change(h, headers, { currentPassword: password, newPassword });
  const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
  for (const { id } of [h.organization, lab]) {
    const own = entries.filter(({ organizationId }) => organizationId === id);
    expect(own.map(({ action, success, actorId, target }) => ({ action, success, actorId, target }))).toEqual([
      { action: "password.change", success: false, actorId: user.id, target: email },
      { action: "password.change", success: true, actorId: user.id, target: email },
    ]);
    expect(own.map(({ ip }) => ip)).toEqual(Array(2).fill(id === lab.id ? "" : "192.0.2.1"));
  }
  expect(entries).toHaveLength(4);
  const stored = await h.services.database.query("select a::text, t::text from audit_logs a, throttles t", []);
  for (const secret of ["not this one", password, newPassword])
    expect(JSON.stringify([stored, entries, h.logs])).not.toContain(secret);
});
