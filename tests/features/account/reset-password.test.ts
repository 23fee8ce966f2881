import { expect, test } from "vitest";
import { auditLogs } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { createUser, password, signIn } from "./people.ts";

const email = "ada@example.com";

test("a new password opens the account; the old one, the sessions and the throttle are deleted", async () => {
  const h = await harness();
  await createUser(h, email);
  await createUser(h, "bob@example.com");
  const sessions = async (...addresses: string[]) => {
    const answers = await Promise.all(addresses.map((address) => signIn(h, { email: address, password })));
    return Promise.all(answers.map(async (answer) => ((await answer.json()) as { token: string }).token));
  };
  const [first = "", second = "", bobs = ""] = await sessions(email, email, "bob@example.com");
  await signIn(h, { email, password: "guess" });
  await h.services.database.query("update throttles set count = 10 where key like $1", [`%:${email}`]);
  expect((await signIn(h, { email, password })).status).toBe(429);

  const reset = await h.engine.resetPassword(" Ada@Example.com ");
  expect(reset).toEqual({ email, password: expect.stringMatching(/^[\w-]{16}$/), sessionsEnded: 2 });
  const me = async (token: string) =>
    (await h.request("/api/me", { headers: { Authorization: `Bearer ${token}` } })).status;
  expect(await Promise.all([me(first), me(second), me(bobs)])).toEqual([401, 401, 200]);
  expect((await signIn(h, { email, password })).status).toBe(401);
  expect((await signIn(h, { email, password: reset.password })).status).toBe(200);
  expect((await signIn(h, { email: "bob@example.com", password })).status).toBe(200);

  const audit = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
  expect(audit.filter(({ action }) => action === "password.reset")).toMatchObject([
    { target: email, actorType: "system", organizationId: h.organization.id, success: true },
  ]);
  expect(JSON.stringify([audit, h.logs])).not.toContain(reset.password);
});

test("an unknown e-mail changes nothing and hears who owns the installation", async () => {
  const h = await harness();
  await expect(h.engine.resetPassword("x@example.com")).rejects.toThrow(
    "No user has the e-mail x@example.com (nobody owns this installation yet",
  );
  await createUser(h, email, "owner");
  await createUser(h, "viewer@example.com", "viewer");
  await expect(h.engine.resetPassword("%@example.com")).rejects.toThrow(
    `No user has the e-mail %@example.com (owned by ${email})`,
  );
  expect(await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id)).toEqual([]);
});
