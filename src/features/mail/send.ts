import { audit } from "../../context/audit.ts";
import type { Services } from "../../context/ctx.ts";
import { type Mail, MailError } from "../../core/mail.ts";
import { readRelay, sendNow } from "./service.ts";

/** A mail that a job sends. */
interface Letter {
  /** The kind of mail, for the log and the audit log. */
  kind: string;
  /** The organizations whose audit logs tell of a mail that was refused; empty for the installation's. */
  organizationIds: readonly string[];
  compose: () => Promise<Mail>;
}

/**
 * Sends a mail in a job. Calls `compose` and sends only while there is a relay and the feature is on. A mail that the
 * relay refuses for good is noted in the log and in the audit log; the job ends. Rejects when a retry may help. The
 * process may die after the relay accepted the mail, so a mail may be sent twice.
 */
export async function sendMail(services: Services, letter: Letter, signal: AbortSignal): Promise<void> {
  const { database, log, options } = services;
  if (!options.edition.has("administration")) return;
  const relay = await readRelay(services, database.db);
  if (!relay) return;
  const mail = await letter.compose();
  try {
    await sendNow(services, relay, mail, signal);
  } catch (error) {
    if (!(error instanceof MailError && error.isPermanent)) throw error;
    log.warn({ mail: letter.kind, reason: error.message }, "A mail was refused for good");
    await noteRefused(services, letter, mail.to, error.message);
  }
}

async function noteRefused({ database }: Services, { kind, organizationIds }: Letter, to: string, reason: string) {
  const entry = {
    action: "mail.fail",
    target: to,
    actor: { type: "system", id: null, name: "mail relay" },
    request: { id: "mail", ip: "" },
    success: false,
    summary: { mail: kind, reason },
  } as const;
  const [first = null, ...others] = organizationIds;
  const entries = others.map((organizationId) => ({ ...entry, organizationId }));
  await audit(database.db, { ...entry, organizationId: first }, ...entries);
}
