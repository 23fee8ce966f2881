import { and, eq, inArray, ne } from "drizzle-orm";
import { exclusiveCredential, type MessengerName } from "../../../core/channels/messengers.ts";
import type { Cipher } from "../../../core/credentials/cipher.ts";
import { EngineError } from "../../../core/errors.ts";
import type { Db } from "../../../db/client.ts";
import { channels } from "../../../db/schema.ts";
import type { StoredFields } from "./rules.ts";

/**
 * The mark that identifies an account while its channel is on; null for accounts that several agents may use. Throws
 * 409 when another agent uses the account: a bot has one webhook, so two agents would take each other's messages. Marks
 * made with an older encryption key count too.
 */
export async function claimAccount(
  tx: Db,
  cipher: Cipher,
  agentId: string,
  name: MessengerName,
  fields: StoredFields,
): Promise<Uint8Array | null> {
  const marks = await marksOf(cipher, name, fields);
  if (marks.length === 0) return null;
  const [other] = await tx
    .select({ id: channels.id })
    .from(channels)
    .where(and(inArray(channels.accountHmac, marks), ne(channels.agentId, agentId)));
  if (other) throw accountTaken(name);
  return marks[0] ?? null;
}

/** The enabled channel of any agent with this account; null for none. */
export async function findUser(db: Db, cipher: Cipher, name: MessengerName, fields: StoredFields) {
  const marks = await marksOf(cipher, name, fields);
  if (marks.length === 0) return null;
  const [user] = await db
    .select({ agentId: channels.agentId })
    .from(channels)
    .where(and(eq(channels.enabled, true), inArray(channels.accountHmac, marks)));
  return user ?? null;
}

async function marksOf(cipher: Cipher, name: MessengerName, fields: StoredFields): Promise<Uint8Array[]> {
  const credential = exclusiveCredential(name, fields);
  return credential === null ? [] : cipher.fingerprints(credential);
}

export const accountTaken = (name: MessengerName) =>
  new EngineError(
    "conflict",
    `Another agent uses this ${name === "slack" ? "Slack app" : "bot"}: turn its channel off, or make another one for this agent`,
  );
