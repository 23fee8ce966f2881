import { expect, test } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { MailError } from "../../../src/core/mail.ts";
import { installation } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { relay, withMails } from "../../mails.ts";
import { auditOf, managementKey, refusal } from "../organizations/callers.ts";

const path = "/api/installation/mail-relay";
const mask = "••••85a5";
const shown = { ...relay, port: 587, secure: false, requireTls: true, password: mask };

test("a relay is stored sealed, shown with a masked password, changed and deleted", async () => {
  const h = await withMails();
  const read = async () => (await h.request(path, { headers: h.owner })).json();
  expect(await read()).toEqual({ relay: null });
  const saved = await h.saveRelay();
  expect([saved.status, await saved.json()]).toEqual([200, { relay: shown }]);
  expect(await read()).toEqual({ relay: shown });

  // The mask, an empty text, null and no password keep the stored one.
  for (const [index, password] of [mask, "", null, undefined].entries()) {
    const from = `agents${index}@example.com`;
    expect(await (await h.saveRelay({ from, password })).json()).toEqual({ relay: { ...shown, from } });
  }
  await h.request(`${path}/test`, { method: "POST", headers: h.owner, json: { to: "ada@example.com" } });
  expect(h.relays).toMatchObject([{ password: relay.password, username: "agents" }]);

  const log = (await auditOf(h)).filter(({ action }) => action === "mail-relay.update");
  expect(log.map(({ summary }) => Object.keys((summary as { changes: object }).changes).sort())).toEqual([
    ["from", "host", "password", "port", "requireTls", "secure", "username"],
    ["from"],
    ["from"],
    ["from"],
    ["from"],
  ]);
  expect(await h.everything()).not.toContain(relay.password);

  const deleted = await h.request(path, { method: "DELETE", headers: h.owner });
  expect([deleted.status, await read()]).toEqual([200, { relay: null }]);
  expect(await refusal(h.request(path, { method: "DELETE", headers: h.owner }))).toEqual([404, "Mail relay not found"]);
});

test("the stored password goes to no other server, account or open connection", async () => {
  const h = await withMails();
  await h.saveRelay();
  const problem = "password: must be given for a new host, port or username, and for a relay without encryption";
  for (const change of [{ host: "evil.example.com" }, { port: 25 }, { username: "eve" }, { requireTls: false }]) {
    for (const password of [mask, undefined]) {
      expect(await refusal(h.saveRelay({ ...change, password })), JSON.stringify(change)).toEqual([400, problem]);
    }
  }
  // Without a user name there is no login, so the password goes.
  expect(await (await h.saveRelay({ username: null, password: mask })).json()).toMatchObject({
    relay: { username: null, password: null },
  });
  expect(await refusal(h.saveRelay({ password: undefined }))).toEqual([400, problem]);
  expect(await refusal(h.saveRelay({ username: null, password: "new one" }))).toEqual([
    400,
    "password: needs a username",
  ]);
  // A short password is masked as a whole.
  const short = await (await h.saveRelay({ password: "short" })).json();
  expect(short.relay.password).toBe("••••");
});

test.each([
  ["host", "smtp.example.com\r\nRCPT TO:<eve@example.com>"],
  ["host", "http://smtp.example.com"],
  ["from", "agents@example.com, eve@example.com"],
  ["from", "Agents\r\nBcc: eve@example.com <agents@example.com>"],
  ["from", "Agents <agents@example.com> <eve@example.com>"],
  ["from", "Agents"],
  ["port", 0],
  ["port", 65_536],
])("a relay with the %s %j is refused", async (field, value) => {
  const h = await withMails();
  const [status, message] = await refusal(h.saveRelay({ [field]: value }));
  expect(status).toBe(400);
  expect(message).toMatch(new RegExp(`^${field}: `));
});

test("a test mail tells whether the relay accepted it", async () => {
  const h = await withMails();
  const to = "ada@example.com";
  const send = (json: unknown = { to }) => h.request(`${path}/test`, { method: "POST", headers: h.owner, json });
  expect(await refusal(send())).toEqual([409, "There is no mail relay: save one first"]);
  await h.saveRelay();
  expect(await (await send()).json()).toEqual({ ok: true, latencyMs: 0, error: null });
  expect(h.sent).toEqual([expect.objectContaining({ to, subject: "Test mail" })]);
  const error = "The relay refused the user name or the password: 535 5.7.8";
  h.failures.push(new MailError(error));
  expect(await (await send()).json()).toEqual({ ok: false, latencyMs: 0, error });
  expect((await auditOf(h)).filter(({ action }) => action === "mail-relay.test")).toMatchObject([
    { target: to, summary: { ok: true } },
    { target: to, summary: { ok: false, error } },
  ]);
  expect((await send({ to: "ada@example.com\r\nBcc: eve@example.com" })).status).toBe(400);
});

test("only a signed-in person who manages the installation reaches the relay", async () => {
  const h = await withMails();
  const other = await h.createOrganization("other");
  const elsewhere = await h.as("owner", { organization: other });
  for (const headers of [await h.as("admin"), elsewhere]) {
    expect((await h.request(path, { headers })).status).toBe(403);
  }
  const [status, message] = await refusal(h.request(path, { headers: await managementKey(h) }));
  expect([status, message]).toEqual([403, expect.stringContaining("signed-in session")]);
});

test("a rotated encryption key opens the relay, and a lost one is forgotten by name", async () => {
  const [first, second, third] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte));
  if (!first || !second || !third) throw new Error("There are three keys");
  const h = await withMails({ keys: [first] });
  await h.engine.boot({});
  await h.saveRelay();
  const withKeys = async (...keys: Uint8Array<ArrayBuffer>[]) =>
    createEngine({ ...h.services, cipher: await createCipher(keys) });
  await (await withKeys(second, first)).rotateKey();
  const rotated = await withKeys(second);
  const read = async () =>
    (await rotated.app.request(path, { headers: h.owner }, { remoteAddress: "192.0.2.1" })).json();
  expect(await read()).toEqual({ relay: shown });

  const names: string[] = [];
  await (await withKeys(third)).forgetSecrets(async (lost) => {
    names.push(...lost);
    return true;
  });
  expect(names).toContain("mail relay");
  const [row] = await h.services.database.db.select().from(installation);
  expect(row).toMatchObject({ mailRelay: null, mailRelayKeyId: null });
});
