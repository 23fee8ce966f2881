import { z } from "zod";

/** The operator's SMTP server, which sends the installation's mails. */
export interface MailRelay {
  host: string;
  port: number;
  /** Whether the connection begins with TLS, as on port 465. */
  secure: boolean;
  /** Whether a connection that begins without TLS must change to it (STARTTLS) before anything else is sent. */
  requireTls: boolean;
  /** Null for a relay that needs no login; then `password` is null too. */
  username: string | null;
  password: string | null;
  /** The sender: an address, or `Name <address>`. */
  from: string;
}

/** A mail in plain text to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mails. */
export interface Mailer {
  /** Resolves when the relay accepted the mail. Rejects with a `MailError`, or with the signal's reason. */
  send(relay: MailRelay, mail: Mail, signal: AbortSignal): Promise<void>;
}

/** A mail was not sent. The message has none of the relay's own text, so it contains no address and no password. */
export class MailError extends Error {
  /** Whether the relay refused this mail for good. A problem of the relay or of its settings is not permanent. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent = false }: { isPermanent?: boolean } = {}) {
    super(message);
    this.name = "MailError";
    this.isPermanent = isPermanent;
  }
}

const address = z.email();

/**
 * Whether a text is one e-mail address without a name. The pattern allows no space, bracket, comma or line break, which
 * would add recipients or headers to a mail.
 */
export const isMailAddress = (text: string) => text.length <= 254 && address.safeParse(text).success;

const named = /^([^\p{Cc}\p{Zl}\p{Zp}"<>]{1,64}) <([^<>]+)>$/u;

/** Reads a sender: an address, or `Name <address>`. Null for any other text. */
export function readSender(text: string): { name: string; address: string } | null {
  const [, name = "", address = text] = named.exec(text) ?? [];
  return isMailAddress(address) ? { name: name.trim(), address } : null;
}
