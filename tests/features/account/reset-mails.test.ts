import { eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { MailError } from "../../../src/core/mail.ts";
import { jobs, oneTimeTokens, users } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { withMails } from "../../mails.ts";
import { spyOnStatements } from "../../statements.ts";
import { auditOf, refusal } from "../organizations/callers.ts";
import { createUser, openSession, password, signIn, statusOf } from "./people.ts";

type World = Awaited<ReturnType<typeof withAda>>;

const email = "ada@example.com";
const minute = 60_000;
const invalidLink = "This link is not valid any more: ask for a new one";

async function withAda() {
  const h = await withMails();
  await h.saveRelay();
  const ada = await createUser(h, email, "member");
  return { ...h, ada };
}

const forgot = (h: World, who: unknown = email, headers = {}) =>
  h.request("/api/auth/forgot-password", { method: "POST", headers, json: { email: who } });
const reset = (h: World, token: string, chosen = "a new password") =>
  h.request("/api/auth/reset-password", { method: "POST", json: { token, password: chosen } });

/** The token of the newest mail. */
const tokenIn = (h: World) => /\/reset#token=([\w-]{43})\n/.exec(h.sent.at(-1)?.text ?? "")?.[1] ?? "";

test("a forgotten password is reset with the link of a mail, once, and ends all sessions", async () => {
  const h = await withAda();
  const session = await openSession(h, h.ada.id);
  const answer = await forgot(h, " Ada@Example.com ");
  expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
  await h.work();
  expect(h.sent).toEqual([
    {
      to: email,
      subject: "Choose a new password",
      text: expect.stringContaining("http://localhost:4000/reset#token="),
    },
  ]);
  const token = tokenIn(h);
  // The token is nowhere but in the mail.
  expect(token).not.toBe("");
  expect(await h.everything()).not.toContain(token);

  expect(await refusal(reset(h, token, "short"))).toEqual([400, "password: must be at least 8 characters"]);
  const done = await reset(h, token);
  expect([done.status, await done.json()]).toEqual([200, { success: true }]);
  expect(await statusOf(h, session)).toBe(401);
  expect((await signIn(h, { email, password })).status).toBe(401);
  expect((await signIn(h, { email, password: "a new password" })).status).toBe(200);
  expect((await auditOf(h)).find(({ action }) => action === "password.reset")).toMatchObject({
    actorId: h.ada.id,
    target: email,
    organizationId: h.organization.id,
    summary: { sessionsEnded: 1 },
  });
  expect(await refusal(reset(h, token))).toEqual([401, invalidLink]);
});

test("a link stops working after 30 minutes, with another change of the password, and for an inactive user", async () => {
  const h = await withAda();
  const { db } = h.services.database;
  const link = async () => {
    await forgot(h);
    await h.work();
    return tokenIn(h);
  };
  const late = await link();
  await h.clock.advance(30 * minute);
  expect(await refusal(reset(h, late))).toEqual([401, invalidLink]);

  const [first, second] = [await link(), await link()];
  expect((await reset(h, first, "the first one")).status).toBe(200);
  expect(await refusal(reset(h, second))).toEqual([401, invalidLink]);

  await h.clock.advance(60 * minute);
  const third = await link();
  const headers = await openSession(h, h.ada.id);
  const json = { currentPassword: "the first one", newPassword: "the second one" };
  expect((await h.request("/api/me/password", { method: "POST", headers, json })).status).toBe(200);
  expect(await refusal(reset(h, third))).toEqual([401, invalidLink]);

  const fourth = await link();
  await db.update(users).set({ active: false }).where(eq(users.id, h.ada.id));
  expect(await refusal(reset(h, fourth))).toEqual([401, invalidLink]);
  for (const garbage of ["", "x", `${fourth}x`, "\u0000"]) {
    expect((await reset(h, garbage)).status, JSON.stringify(garbage)).toBe(garbage === "\u0000" ? 400 : 401);
  }
});

test("of two resets at the same time one succeeds", async () => {
  const h = await withAda();
  await forgot(h);
  await h.work();
  const answers = await Promise.all(["one password", "another password"].map((chosen) => reset(h, tokenIn(h), chosen)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
});

test("a link proves who its holder is, so the password is nobody else's any more", async () => {
  const h = await withAda();
  const { db } = h.services.database;
  const byOther = { passwordSetBy: h.ada.id, passwordOrganization: h.organization.id };
  await db.update(users).set(byOther).where(eq(users.id, h.ada.id));
  await forgot(h);
  await h.work();
  expect((await reset(h, tokenIn(h))).status).toBe(200);
  const [row] = await db.select().from(users).where(eq(users.id, h.ada.id));
  expect(row).toMatchObject({ passwordSetBy: null, passwordOrganization: null });
});

test("neither the answer nor its statements tell whether an e-mail has an account", async () => {
  const h = await withAda();
  const inactive = await createUser(h, "grace@example.com", "member");
  await h.services.database.db.update(users).set({ active: false }).where(eq(users.id, inactive.id));
  const asked = async (who: string) => {
    const spy = spyOnStatements(h.services.database);
    const answer = await forgot(h, who);
    const statements = spy.texts();
    spy.restore();
    return [answer.status, await answer.json(), [...answer.headers.keys()].sort(), statements];
  };
  // The third time finds a job that waits; the fourth is beyond the limit of mails.
  for (let time = 1; time <= 4; time += 1) {
    const known = await asked(email);
    expect(known.slice(0, 2)).toEqual([200, { success: true }]);
    expect((known[3] as string[]).length).toBeGreaterThan(time <= 3 ? 2 : 1);
    for (const who of ["nobody@example.com", "grace@example.com"]) expect(await asked(who)).toEqual(known);
  }
  expect(await h.services.database.db.select().from(jobs)).toHaveLength(3);
  await h.work();
  expect(h.sent.map(({ to }) => to)).toEqual([email]);
});

test("an e-mail gets 3 mails an hour", async () => {
  const h = await withAda();
  for (let time = 0; time < 5; time += 1) {
    expect((await forgot(h)).status).toBe(200);
    await h.work();
  }
  expect(h.sent).toHaveLength(3);
  await h.clock.advance(60 * minute);
  await forgot(h);
  await h.work();
  expect(h.sent).toHaveLength(4);
});

test("a mail is tried again while the relay is away, and given up when the relay refuses it for good", async () => {
  const h = await withAda();
  const { db } = h.services.database;
  h.failures.push(new MailError("The relay can't be reached: ECONNREFUSED"));
  await forgot(h);
  await h.work();
  expect(await db.select().from(jobs)).toMatchObject([
    { kind: "mail.reset", attempts: 1, lastError: "The relay can't be reached: ECONNREFUSED" },
  ]);
  await h.clock.advance(minute);
  await h.work();
  expect(h.sent).toHaveLength(1);

  h.failures.push(new MailError("The relay refused the mail: 550 5.1.1", { isPermanent: true }));
  await forgot(h);
  await h.work();
  expect([h.sent.length, await db.select().from(jobs)]).toEqual([1, []]);
  expect((await auditOf(h)).find(({ action }) => action === "mail.fail")).toMatchObject({
    target: email,
    success: false,
    organizationId: h.organization.id,
    summary: { mail: "password reset", reason: "The relay refused the mail: 550 5.1.1" },
  });
});

test("a mail that fails ten times is a failed job, which holds no address and no token", async () => {
  const h = await withAda();
  const { db } = h.services.database;
  h.failures.push(...Array.from({ length: 10 }, () => new MailError("The relay did not answer in time")));
  await forgot(h);
  for (let time = 0; time < 10; time += 1) {
    await h.work();
    await h.clock.advance(16 * minute);
  }
  const failed = await db.select().from(jobs);
  expect(failed).toMatchObject([{ status: "failed", attempts: 10, payload: { userId: h.ada.id } }]);
  expect(JSON.stringify(failed)).not.toContain("example.com");
  expect(h.sent).toEqual([]);
});

test("without a relay, and once the feature is off, no mail is sent and no link is made", async () => {
  const h = await withAda();
  const { db } = h.services.database;
  const { edition, ...options } = h.services.options;
  const closed = createEngine({ ...h.services, options: { ...options, edition: { ...edition, has: () => false } } });
  const done = () => vi.waitFor(async () => expect(await db.select().from(jobs)).toEqual([]));
  await forgot(h);
  await closed.tick();
  await done();
  await closed.stop(0);

  await h.request("/api/installation/mail-relay", { method: "DELETE", headers: h.owner });
  expect((await forgot(h)).status).toBe(200);
  await h.work();
  await done();
  expect([h.sent, await db.select().from(oneTimeTokens)]).toEqual([[], []]);
});

test("a page of another site can't ask for a mail", async () => {
  const h = await withAda();
  expect((await forgot(h, email, { Origin: "https://evil.example" })).status).toBe(403);
  expect((await forgot(h, "ada@example.com\r\nBcc: eve@example.com")).status).toBe(400);
  expect(await h.services.database.db.select().from(jobs)).toEqual([]);
});

test("pages learn whether people may ask for a link", async () => {
  const h = await withAda();
  const read = async () => (await h.request("/api/setup")).json();
  expect(await read()).toMatchObject({ resetsByMail: true });
  await h.request("/api/installation/mail-relay", { method: "DELETE", headers: h.owner });
  expect(await read()).not.toHaveProperty("resetsByMail");
});
