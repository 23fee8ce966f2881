import { eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { accessTokens, auditLogs, users } from "../../../src/db/schema.ts";
import { countCall } from "../../../src/db/throttle.ts";
import { type Harness, harness } from "../../harness.ts";
import { cookieOf, createUser, join, password, signIn } from "./people.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
const email = "ada@example.com";

describe("signing in", () => {
  test("answers a token and sets it as the cookie; both open a session", async () => {
    const h = await harness();
    const user = await createUser(h, email);
    const response = await signIn(h, { email: " Ada@Example.com ", password }, { "User-Agent": "test/1" });
    expect(response.status).toBe(200);
    const answer = await response.json();
    expect(answer).toEqual({
      token: expect.stringMatching(/^aes_[\w-]{43}$/),
      user: { id: user.id, email, name: "Ada" },
    });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const cookie = response.headers.get("Set-Cookie") ?? "";
    expect(cookie).toContain(`agent_engine.session_token=${answer.token}; `);
    for (const attribute of ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"])
      expect(cookie).toContain(attribute);
    expect(cookie).not.toContain("Secure");

    for (const headers of [{ Authorization: `Bearer ${answer.token}` }, { Cookie: cookieOf(response) }]) {
      const me = await h.request("/api/me", { headers: headers as Record<string, string> });
      expect(me.status).toBe(200);
      expect((await me.json()).user.email).toBe(email);
    }
    const [session] = await h.services.database.db.select().from(accessTokens);
    expect(session).toMatchObject({ kind: "session", ip: "192.0.2.1", userAgent: "test/1" });
  });

  test("marks the cookie Secure on https, directly and behind a trusted proxy", async () => {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    const over = (path: string, headers = {}) =>
      h.request(path, { method: "POST", json: { email, password }, headers: headers as Record<string, string> });
    const path = "/api/auth/sign-in/email";
    expect((await over(`https://engine.example${path}`)).headers.get("Set-Cookie")).toContain("; Secure");
    expect((await over(path, { "X-Forwarded-Proto": "https" })).headers.get("Set-Cookie")).toContain("; Secure");
    expect((await over(path)).headers.get("Set-Cookie")).not.toContain("Secure");
  });

  test("refuses a wrong password, an unknown account and one without a password in the same words", async () => {
    const h = await harness();
    const { id } = await createUser(h, email);
    await createUser(h, "sso@example.com");
    await h.services.database.db.update(users).set({ passwordHash: null }).where(eq(users.email, "sso@example.com"));
    const answers = [];
    for (const attempt of [
      { email, password: "wrong" },
      { email: "nobody@example.com", password },
      { email: "sso@example.com", password },
    ]) {
      const response = await signIn(h, attempt);
      expect(response.headers.get("Set-Cookie")).toBeNull();
      answers.push([response.status, await response.text()]);
    }
    expect(answers[0]).toEqual([
      401,
      JSON.stringify({ statusCode: 401, message: "Wrong e-mail or password", error: "Unauthorized" }),
    ]);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);

    const entries = await h.services.database.db.select().from(auditLogs).where(eq(auditLogs.action, "session.create"));
    expect(entries.map(({ target, success, actorId }) => [target, success, actorId])).toContainEqual([
      email,
      false,
      id,
    ]);
    expect(entries).toHaveLength(3);
  });

  test.each([
    [{}, "email"],
    [{ email: "ada", password }, "email"],
    [{ email: "a\u0000@example.com", password }, "email"],
    [{ email: "' or 1=1 --", password }, "email"],
    [{ email, password: "" }, "password"],
    [{ email, password: 7 }, "password"],
    [{ email, password: "x".repeat(257) }, "password"],
    [{ email, password: "\ud800" }, "password"],
    [{ email: { $ne: null }, password }, "email"],
  ])("answers 400 to %j", async (body, field) => {
    const h = await harness();
    const response = await signIn(h, body);
    expect(response.status).toBe(400);
    expect((await response.json()).issues.map(({ path }: { path: string }) => path)).toContain(field);
  });

  test("is not for pages of other sites", async () => {
    const h = await harness();
    await createUser(h, email);
    const refused = [{ Origin: "https://evil.example" }, { Origin: "null" }, { "Sec-Fetch-Site": "cross-site" }];
    for (const headers of refused) {
      const response = await signIn(h, { email, password }, headers as Record<string, string>);
      expect(response.status).toBe(403);
      expect(response.headers.get("Set-Cookie")).toBeNull();
    }
    expect((await signIn(h, { email, password }, { Origin: "http://localhost:4000" })).status).toBe(200);
  });
});

describe("the throttle of failures", () => {
  test("refuses the 11th failure of an account, the right password too, until the window ends", async () => {
    const h = await harness();
    await createUser(h, email);
    const statuses = await Promise.all(
      Array.from({ length: 14 }, async () => (await signIn(h, { email, password: "wrong" })).status),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);

    await h.clock.advance(5 * minute);
    const refused = await signIn(h, { email, password });
    expect(refused.status).toBe(429);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "600",
      "x-ratelimit-limit": "10",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "600",
    });
    expect((await refused.json()).message).toBe("Too many failed sign-ins: try again in 600 seconds");

    await h.clock.advance(10 * minute);
    expect((await signIn(h, { email, password })).status).toBe(200);
  });

  test("leaves the account open to its owner at another address", async () => {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    for (let call = 0; call < 10; call += 1) {
      await countCall(h.services, `sign-in:203.0.113.9:${email}`, { calls: 10, windowMs: minute });
    }
    const from = (ip: string) => signIn(h, { email, password }, { "X-Forwarded-For": ip });
    expect((await from("203.0.113.9")).status).toBe(429);
    expect((await from("203.0.113.10")).status).toBe(200);
  });

  test("refuses the 51st failure from an address, whatever the account", async () => {
    const h = await harness();
    await createUser(h, email);
    for (let call = 0; call < 49; call += 1) {
      await countCall(h.services, "sign-in:192.0.2.1", { calls: 50, windowMs: minute });
    }
    expect((await signIn(h, { email, password })).status).toBe(200);
    expect((await signIn(h, { email: "other@example.com", password })).status).toBe(401);
    const refused = await signIn(h, { email: "third@example.com", password });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("X-RateLimit-Limit")).toBe("50");
  });

  test("does not count what could not be checked", async () => {
    const h = await harness();
    await createUser(h, email);
    const busy = new EngineError("unavailable", "Too many sign-ins at once; try again", {
      retryAfterSeconds: 1,
    });
    const verify = vi.spyOn(h.services.passwords, "verify").mockRejectedValueOnce(busy);
    const response = await signIn(h, { email, password });
    verify.mockRestore();
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect((await response.json()).message).toBe("Too many sign-ins at once; try again");
    const failures = await h.services.database.query("select count from throttles where key like $1", ["sign-in:%"]);
    expect(failures).toEqual([{ count: 0 }, { count: 0 }]);
  });

  test("begins afresh after a success", async () => {
    const h = await harness();
    await createUser(h, email);
    for (let call = 0; call < 9; call += 1) {
      await countCall(h.services, `sign-in:192.0.2.1:${email}`, { calls: 10, windowMs: minute });
    }
    expect((await signIn(h, { email, password })).status).toBe(200);
    expect((await signIn(h, { email, password: "wrong" })).status).toBe(401);
    expect((await signIn(h, { email, password })).status).toBe(200);
  });
});

describe("the limit of an account at all addresses", () => {
  const hour = 60 * minute;

  /** As many failures as are allowed, each from an address of its own. */
  async function exhausted() {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    const from = (ip: string, secret = password, who = email) =>
      signIn(h, { email: who, password: secret }, { "X-Forwarded-For": ip });
    expect((await from("198.51.100.1")).status).toBe(200);
    for (let call = 0; call < 49; call += 1) {
      await countCall(h.services, `failed-sign-ins:${email}`, { calls: 50, windowMs: hour });
    }
    expect((await from("203.0.113.1", "wrong")).status).toBe(401);
    return { h, from };
  }

  test("refuses the 51st failure of an hour, whatever its address, and a right password there", async () => {
    const { h, from } = await exhausted();
    const refused = await from("203.0.113.2");
    expect([refused.status, refused.headers.get("X-RateLimit-Limit")]).toEqual([429, "50"]);
    expect((await from("203.0.113.3", password, "nobody@example.com")).status).toBe(401);
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    const summaries = entries
      .filter(({ target, success }) => target === email && !success)
      .map(({ summary }) => summary);
    expect(summaries.at(-1)).toMatchObject({ refused: "failed sign-ins", limit: 50 });
    await h.clock.advance(hour);
    expect((await from("203.0.113.2")).status).toBe(200);
  });

  test("lets a right password pass where the account signed in within 90 days, and no wrong one", async () => {
    const { h, from } = await exhausted();
    expect((await from("198.51.100.1", "wrong")).status).toBe(401);
    expect((await from("198.51.100.1")).status).toBe(200);
    expect((await from("203.0.113.4")).status).toBe(429);
    await h.clock.advance(91 * day);
    for (let call = 0; call < 51; call += 1) {
      await countCall(h.services, `failed-sign-ins:${email}`, { calls: 50, windowMs: hour });
    }
    expect((await from("198.51.100.1")).status).toBe(429);
    await h.engine.tick();
    expect(await h.services.database.query("select * from sign_in_addresses", [])).toEqual([]);
  });

  test("knows no address of an earlier password, but the one at which its holder replaced it", async () => {
    const { h, from } = await exhausted();
    const newPassword = "another horse battery";
    const exhaust = async () => {
      for (let call = 0; call < 51; call += 1) {
        await countCall(h.services, `failed-sign-ins:${email}`, { calls: 50, windowMs: hour });
      }
    };
    await h.clock.advance(hour);
    const { token } = await (await from("198.51.100.2")).json();
    const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": "198.51.100.2" };
    const json = { currentPassword: password, newPassword };
    expect((await h.request("/api/me/password", { method: "POST", headers, json })).status).toBe(200);
    await exhaust();
    expect((await from("198.51.100.1", newPassword)).status).toBe(429);
    expect((await from("198.51.100.2", newPassword)).status).toBe(200);
    const reset = await h.engine.resetPassword(email);
    await exhaust();
    expect((await from("198.51.100.2", reset.password)).status).toBe(429);
  });

  test("is the same for an unknown e-mail", async () => {
    const h = await harness({ trustProxy: 1 });
    for (let call = 0; call < 50; call += 1) {
      await countCall(h.services, "failed-sign-ins:nobody@example.com", { calls: 50, windowMs: hour });
    }
    const refused = await signIn(h, { email: "nobody@example.com", password }, { "X-Forwarded-For": "203.0.113.1" });
    expect(refused.status).toBe(429);
  });

  test("does not count a right password", async () => {
    const h = await harness();
    await createUser(h, email);
    await signIn(h, { email, password });
    await signIn(h, { email, password: "wrong" });
    const counted = await h.services.database.query("select count from throttles where key like $1", ["failed-%"]);
    expect(counted).toEqual([{ count: 1 }]);
  });
});

describe("the limit of all sign-ins", () => {
  /** Counts `times` sign-ins of the address of the tests. */
  const signedIn = (h: Harness, times: number) =>
    h.services.database.query("insert into throttles (key, count, resets_at) values ($1, $2, $3)", [
      "sign-ins:192.0.2.1",
      times,
      new Date(h.clock.now() + 15 * minute).toISOString(),
    ]);

  test("refuses the 101st of an address, a right one too, until the window ends", async () => {
    const h = await harness({ trustProxy: 1 });
    await createUser(h, email);
    await signedIn(h, 99);
    const from = (ip: string) => signIn(h, { email, password }, { "X-Forwarded-For": ip });
    expect((await from("192.0.2.1")).status).toBe(200);
    const verify = vi.spyOn(h.services.passwords, "verify");
    const refused = await from("192.0.2.1");
    expect(verify).not.toHaveBeenCalled();
    verify.mockRestore();
    expect(refused.status).toBe(429);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "900",
      "x-ratelimit-limit": "100",
      "x-ratelimit-remaining": "0",
    });
    expect((await refused.json()).message).toBe("Too many sign-ins: try again in 900 seconds");
    expect((await from("192.0.2.2")).status).toBe(200);
    await h.clock.advance(15 * minute);
    expect((await from("192.0.2.1")).status).toBe(200);
  });

  test("is one limit for all addresses of an IPv6 network", async () => {
    const h = await harness({ trustProxy: 1 });
    const from = (ip: string) => signIn(h, { email, password }, { "X-Forwarded-For": ip });
    await from("2001:db8::1");
    await from("2001:db8::ffff");
    const counted = await h.services.database.query("select count from throttles where key = $1", [
      "sign-ins:2001:db8:0:0::/64",
    ]);
    expect(counted).toEqual([{ count: 2 }]);
  });
});

test("sign-ins are in the log of every organization of the user, and in the installation's for unknown accounts", async () => {
  const h = await harness();
  const { id } = await createUser(h, email);
  const lab = await join(h, id, "lab");
  await h.createOrganization("foreign");
  await createUser(h, "alone@example.com");
  await h.services.database.query("delete from members where user_id = (select id from users where email = $1)", [
    "alone@example.com",
  ]);
  await signIn(h, { email, password }, { "User-Agent": "test/1" });
  await signIn(h, { email, password: "wrong" }, { "User-Agent": `x${"y".repeat(600)}` });
  await signIn(h, { email: "nobody@example.com", password });
  await signIn(h, { email: "alone@example.com", password });

  const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
  const inLog = (organization: { id: string }) =>
    entries.filter(({ organizationId }) => organizationId === organization.id);
  expect(inLog(h.organization)).toMatchObject([
    { actorId: id, target: email, success: true, ip: "192.0.2.1", summary: { userAgent: "test/1" } },
    { actorId: id, target: email, success: false, ip: "192.0.2.1", summary: { userAgent: `x${"y".repeat(511)}` } },
  ]);
  // The log of the organization that added the account shows its sign-ins without their addresses.
  expect(
    inLog(lab).map(({ actorId, target, success, ip, summary }) => [actorId, target, success, ip, summary]),
  ).toEqual([
    [id, email, true, "", {}],
    [id, email, false, "", {}],
  ]);
  const ofNone = entries.filter(({ organizationId }) => organizationId === null);
  expect(ofNone).toMatchObject([
    { actorType: "system", actorId: null, target: "nobody@example.com", success: false, summary: {} },
    { actorType: "user", target: "alone@example.com", success: true },
  ]);
  expect(entries).toHaveLength(6);
});

describe("a session", () => {
  test("lives for 30 days after its last use, and its cookie with it", async () => {
    const h = await harness();
    await createUser(h, email);
    const headers = { Cookie: cookieOf(await signIn(h, { email, password })) };
    await h.clock.advance(30 * minute);
    const early = await h.request("/api/me", { headers });
    expect(early.headers.get("Set-Cookie")).toBeNull();
    await h.clock.advance(29 * day);
    const late = await h.request("/api/me", { headers });
    expect(cookieOf(late)).toBe(headers.Cookie);
    await h.clock.advance(29 * day);
    expect((await h.request("/api/me", { headers })).status).toBe(200);
    await h.clock.advance(30 * day);
    expect((await h.request("/api/me", { headers })).status).toBe(401);
  });

  test("lives no longer than 30 days after its last use when the time was set back", async () => {
    const h = await harness();
    await createUser(h, email);
    const headers = { Cookie: cookieOf(await signIn(h, { email, password })) };
    h.clock.setBack(365 * day);
    const used = await h.request("/api/me", { headers });
    expect([used.status, cookieOf(used)]).toEqual([200, headers.Cookie]);
    await h.clock.advance(30 * day);
    expect((await h.request("/api/me", { headers })).status).toBe(401);
  });

  test("ends with a sign-out, alone of the user's", async () => {
    const h = await harness();
    await createUser(h, email);
    const first = (await (await signIn(h, { email, password })).json()).token;
    const second = (await (await signIn(h, { email, password })).json()).token;
    const response = await h.request("/api/auth/sign-out", {
      method: "POST",
      headers: { Authorization: `Bearer ${first}` },
    });
    expect(await response.json()).toEqual({ success: true });
    expect(response.headers.get("Set-Cookie")).toMatch(/^agent_engine\.session_token=; Max-Age=0/);
    const status = async (token: string) =>
      (await h.request("/api/me", { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status(first)).toBe(401);
    expect(await status(second)).toBe(200);
    expect((await h.request("/api/auth/sign-out", { method: "POST" })).status).toBe(401);
    const actions = (await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id)).map(
      ({ action }) => action,
    );
    expect(actions.sort()).toEqual(["session.create", "session.create", "session.end"]);
  });

  test("is stored as a digest, and no log or audit entry has it", async () => {
    const h = await harness();
    await createUser(h, email);
    const { token } = await (await signIn(h, { email, password })).json();
    await h.request("/api/me", { headers: { Authorization: `Bearer ${token}` } });
    await signIn(h, { email, password: "wrong secret" });
    const rows = await h.services.database.query("select t::text from access_tokens t", []);
    const entries = await h.services.database.query("select a::text from audit_logs a", []);
    const written = JSON.stringify([rows, entries, h.logs]);
    expect(h.logs.length).toBeGreaterThan(2);
    for (const secret of [token, password, "wrong secret"]) expect(written).not.toContain(secret);
  });
});
