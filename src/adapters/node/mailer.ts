import { isMailAddress, type Mail, MailError, type Mailer, type MailRelay, readSender } from "../../core/mail.ts";

const connectMs = 10_000;
const silentMs = 20_000;

/** Sends mails by SMTP. The relay is the operator's own, so its address may be a private one. */
export function smtpMailer(): Mailer {
  return {
    async send(relay, mail, signal) {
      const message = messageOf(relay, mail);
      // Loaded when used: most installations send no mail.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport(connectionOf(relay));
      try {
        await transport.sendMail({ ...message, signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : refusalOf(error);
      } finally {
        transport.close();
      }
    },
  };
}

function connectionOf({ host, port, secure, requireTls, username, password }: MailRelay) {
  return {
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(username === null ? {} : { auth: { user: username, pass: password ?? "" } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** The mail for the library. It splits texts at commas and line breaks, so each address is checked and passed apart. */
function messageOf({ from }: MailRelay, { to, subject, text }: Mail) {
  const sender = readSender(from);
  if (!sender) throw new MailError("The sender is not a valid address");
  if (!isMailAddress(to)) throw new MailError("The recipient is not a valid address", { isPermanent: true });
  return {
    from: sender,
    to: { name: "", address: to },
    envelope: { from: sender.address, to: [to] },
    subject,
    text,
    // Keeps automatic replies away (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
  };
}

/** The parts of the library's error without the relay's text, which may contain addresses. */
interface Refusal {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
  permanent?: boolean;
}

/** SMTP replies that ask for another login, or for one at all (RFC 4954 §6). */
const aboutLogin = [530, 534, 535, 538];

function refusalOf(error: unknown): MailError {
  const { code = "", originalCode, command = "", response, responseCode, permanent }: Refusal = Object(error);
  const reply = replyOf(response, responseCode);
  const cause = [originalCode, code].find((one) => one !== undefined && /^[A-Z0-9_]{1,64}$/.test(one)) ?? "unknown";
  if (code === "ETLS" || /CERT|TLS|SSL|VERIFY/.test(cause)) {
    return new MailError(`The connection to the relay could not be encrypted: ${reply ?? cause}`);
  }
  if (code === "EAUTH") return new MailError(`The relay refused the user name or the password: ${reply ?? cause}`);
  if (code === "ETIMEDOUT") return new MailError("The relay did not answer in time");
  if (reply === null) return new MailError(`The relay can't be reached: ${cause}`);
  // Replies to other commands are about the relay's settings, such as a sender that it does not allow.
  const ofMail = command === "RCPT TO" || command === "DATA";
  const isPermanent = permanent === true && ofMail && !aboutLogin.includes(responseCode ?? 0);
  return new MailError(`The relay refused the mail: ${reply}`, { isPermanent });
}

/** The relay's reply as its two codes, such as `550 5.1.1`; null without a reply. */
function replyOf(response = "", code = 0): string | null {
  if (code === 0) return null;
  const [enhanced] = /(?<=^\d{3}[ -])[245]\.\d{1,3}\.\d{1,3}(?= )/.exec(response) ?? [];
  return enhanced === undefined ? `${code}` : `${code} ${enhanced}`;
}
