import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { jobs, organizations } from "../../../src/db/schema.ts";
import { withMails } from "../../mails.ts";
import { createUser } from "../account/people.ts";

const email = "ada@example.com";

/** Ada has an account in another organization than the one that invites her. */
async function withAda(options: Parameters<typeof withMails>[0] = {}) {
  const h = await withMails(options);
  const other = await h.createOrganization("other");
  await createUser({ ...h, organization: other }, email);
  const invite = () =>
    h.request("/api/organizations/acme/members", {
      method: "POST",
      headers: h.owner,
      json: { email, roleKey: "member" },
    });
  return { ...h, invite };
}

test("an invited person gets a mail, without a text that somebody chose", async () => {
  const h = await withAda();
  await h.saveRelay();
  const name = "Your account is locked\r\nBcc: eve@example.com\r\nhttps://evil.example";
  await h.services.database.db.update(organizations).set({ name }).where(eq(organizations.slug, "acme"));
  expect((await h.invite()).status).toBe(201);
  await h.work();
  expect(h.sent).toEqual([
    {
      to: email,
      subject: "Invitation to acme",
      text: expect.stringMatching(/organization acme with the role member\.\n.*\nhttp:\/\/localhost:4000\n/s),
    },
  ]);
  expect(h.sent[0]?.text).not.toMatch(/evil|locked|Bcc/);
  expect(h.sent[0]?.text).toContain("ends on 2026-01-15");
});

test("a withdrawn invitation and the open edition send no mail, and a person gets 3 an hour", async () => {
  const h = await withAda();
  await h.saveRelay();
  await h.invite();
  const path = "/api/organizations/acme/invitations";
  const { invitations } = await (await h.request(path, { headers: h.owner })).json();
  await h.request(`${path}/${invitations[0].id}`, { method: "DELETE", headers: h.owner });
  await h.work();
  expect(h.sent).toEqual([]);
  for (let time = 0; time < 5; time += 1) {
    await h.invite();
    await h.work();
  }
  expect(h.sent).toHaveLength(3);

  const open = await withAda({ edition: openEdition });
  expect((await open.invite()).status).toBe(201);
  expect(await open.services.database.db.select().from(jobs)).toEqual([]);
});
