import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { expect, onTestFinished, test } from "vitest";
import { smtpMailer } from "../../src/adapters/node/mailer.ts";
import { MailError, type MailRelay } from "../../src/core/mail.ts";

/** The key and certificate of a server, from a folder of fixtures. */
const tlsOf = (folder: string) => ({
  key: readFileSync(new URL(`../fixtures/${folder}/key.pem`, import.meta.url)),
  cert: readFileSync(new URL(`../fixtures/${folder}/certificate.pem`, import.meta.url), "utf8"),
});

interface Received {
  from: string;
  to: string[];
  data: string;
}

/** An SMTP server on loopback, and a relay that names it. */
async function serve(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    // Else nothing would be sent over a connection without TLS.
    allowInsecureAuth: true,
    onAuth({ username = "", password = "" }, _session, done) {
      logins.push(`${username}:${password}`);
      done(null, { user: username });
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        received.push({ from, to: rcptTo.map(({ address }) => address), data: Buffer.concat(chunks).toString() });
        done();
      });
    },
    ...options,
  });
  // The server tells of clients that leave during a handshake.
  server.on("error", () => {});
  const port = await new Promise<number>((resolve) => {
    const listener = server.listen(0, "127.0.0.1", () => {
      const address = listener.address();
      resolve(typeof address === "object" && address ? address.port : 0);
    });
  });
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const relay: MailRelay = {
    host: "127.0.0.1",
    port,
    secure: false,
    requireTls: false,
    username: null,
    password: null,
    from: "Agents, of Example <agents@example.com>",
  };
  return { received, logins, relay };
}

const mail = { to: "ada@example.com", subject: "Grüße", text: "Hello,\n.\nthis is a line.\n" };

const send = (relay: MailRelay, to = mail.to) =>
  smtpMailer().send(relay, { ...mail, to }, new AbortController().signal);

/** The error of a mail that is not sent. */
async function failure(sending: Promise<void>): Promise<[string, boolean]> {
  const error = await sending.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MailError)) throw error ?? new Error("The mail was sent");
  return [error.message, error.isPermanent];
}

test("a mail in plain text arrives, with a login", async () => {
  const { received, logins, relay } = await serve();
  await send({ ...relay, username: "agents", password: "pass:word" });
  expect(logins).toEqual(["agents:pass:word"]);
  expect(received).toMatchObject([{ from: "agents@example.com", to: ["ada@example.com"] }]);
  const { data = "" } = received[0] ?? {};
  expect(data).toContain('From: "Agents, of Example" <agents@example.com>\r\n');
  expect(data).toContain("To: ada@example.com\r\n");
  expect(data).toContain("Auto-Submitted: auto-generated\r\n");
  expect(data).toMatch(/Content-Type: text\/plain; charset=utf-8\r\n/);
  expect(data).toContain("Hello,\r\n.\r\nthis is a line.");
  expect(data).not.toMatch(/^Bcc|pass:word/m);
});

test.each([
  "b@example.com\r\nRCPT TO:<eve@example.com>",
  "b@example.com, eve@example.com",
  "Ada <b@example.com>",
  "b@example.com>\r\nBcc: eve@example.com",
  "group: eve@example.com;",
  "",
])("the recipient %j is refused for good, and nothing is sent", async (to) => {
  const { received, relay } = await serve();
  expect(await failure(send(relay, to))).toEqual(["The recipient is not a valid address", true]);
  expect(received).toEqual([]);
});

test("a recipient that the relay refuses is refused for good, one that it can't take now is not", async () => {
  const refuse = (responseCode: number, text: string) => ({
    onRcptTo: (_address: unknown, _session: unknown, done: (error: Error) => void) =>
      done(Object.assign(new Error(text), { responseCode })),
  });
  const gone = await serve(refuse(550, "5.1.1 no such person ada@example.com"));
  expect(await failure(send(gone.relay))).toEqual(["The relay refused the mail: 550 5.1.1", true]);
  const busy = await serve(refuse(451, "4.7.1 greylisted, ada@example.com"));
  expect(await failure(send(busy.relay))).toEqual(["The relay refused the mail: 451 4.7.1", false]);
});

test("a refused sender and a refused login are problems of the relay's settings, which can be mended", async () => {
  const sender = await serve({
    onMailFrom: (_address, _session, done) =>
      done(Object.assign(new Error("5.7.1 not allowed"), { responseCode: 553 })),
  });
  expect(await failure(send(sender.relay))).toEqual(["The relay refused the mail: 553 5.7.1", false]);
  const password = "correct-horse-85a5";
  const login = await serve({
    onAuth: ({ password: given }, _session, done) =>
      done(Object.assign(new Error(`5.7.8 wrong password ${given}`), { responseCode: 535 })),
  });
  const [message, isPermanent] = await failure(send({ ...login.relay, username: "agents", password }));
  expect([message, isPermanent]).toEqual(["The relay refused the user name or the password: 535 5.7.8", false]);
});

test.each([
  { connection: "changes to TLS", fields: { requireTls: true } },
  { connection: "begins with TLS", fields: { secure: true } },
])("a mail and a login go encrypted where the connection $connection and the certificate is trusted", async ({
  fields,
}) => {
  const tls = tlsOf("mail");
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, tls.cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  let encrypted = false;
  const { received, logins, relay } = await serve({
    ...tls,
    secure: fields.secure ?? false,
    hideSTARTTLS: false,
    onMailFrom(_address, session, done) {
      encrypted = session.secure;
      done();
    },
  });
  await send({ ...relay, ...fields, username: "agents", password: "pass:word" });
  expect(encrypted).toBe(true);
  expect(logins).toEqual(["agents:pass:word"]);
  expect(received).toHaveLength(1);
});

test("nothing is sent over a connection that is to be encrypted and is not", async () => {
  // The server offers no STARTTLS, as where somebody on the way removed the offer.
  const plain = await serve({ disabledCommands: ["STARTTLS"] });
  const login = { username: "agents", password: "correct-horse-85a5" };
  const [message] = await failure(send({ ...plain.relay, ...login, requireTls: true }));
  expect(message).toMatch(/^The connection to the relay could not be encrypted: 50\d/);
  // The certificate is another host's, and no authority that this machine trusts signed it.
  const tls = tlsOf("egress");
  const stranger = await serve({ ...tls, hideSTARTTLS: false });
  const [reason] = await failure(send({ ...stranger.relay, ...login, requireTls: true }));
  expect(reason).toMatch(/^The connection to the relay could not be encrypted: [A-Z_]+$/);
  const begun = await serve({ ...tls, secure: true });
  expect((await failure(send({ ...begun.relay, ...login, secure: true })))[0]).toBe(reason);
  for (const { received, logins } of [plain, stranger, begun]) expect([received, logins]).toEqual([[], []]);
});

test("a relay that is away is named by its cause, and an abort ends the sending", async () => {
  const { relay } = await serve();
  expect(await failure(send({ ...relay, port: 1 }))).toEqual(["The relay can't be reached: ECONNREFUSED", false]);
  const reason = new Error("The server is stopping");
  await expect(smtpMailer().send(relay, mail, AbortSignal.abort(reason))).rejects.toBe(reason);
});
