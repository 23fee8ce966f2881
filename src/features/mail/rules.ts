import { isMask, maskOf } from "../../core/credentials/masks.ts";
import type { MailRelay } from "../../core/mail.ts";
import type { NewRelay, Relay } from "./schema.ts";

/**
 * The relay to store. Keeps the stored password only for the same host, port and user name, since another server may
 * not get it, and not for a connection that need not be encrypted any more. Returns the problem of a missing or
 * superfluous password.
 */
export function mergeRelay(
  { password: given, ...fields }: NewRelay,
  stored: MailRelay | null,
): { relay: MailRelay } | { problem: string } {
  const username = fields.username?.trim() || null;
  const sent = given === null || given === undefined || given === "" || isMask(given) ? null : given;
  if (username === null) {
    if (sent !== null) return { problem: "needs a username" };
    return { relay: { ...fields, username, password: null } };
  }
  const isSame = stored?.host === fields.host && stored.port === fields.port && stored.username === username;
  const isWeaker = stored !== null && isEncrypted(stored) && !isEncrypted(fields);
  const password = sent ?? (isSame && !isWeaker ? stored.password : null);
  if (password === null) {
    return { problem: "must be given for a new host, port or username, and for a relay without encryption" };
  }
  return { relay: { ...fields, username, password } };
}

const isEncrypted = ({ secure, requireTls }: Pick<MailRelay, "secure" | "requireTls">) => secure || requireTls;

/** The relay in its API form, with a masked password. */
export function toWire({ password, ...relay }: MailRelay): Relay {
  return { ...relay, password: password === null ? null : maskOf(password) };
}
