import { and, eq } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { newId, toHex } from "../../core/ids.ts";
import { sqlState } from "../../db/client.ts";
import { agents, conversations, files } from "../../db/schema.ts";
import { contentType, fileAddress, fileName, longestFile } from "./rules.ts";
import { placeFor } from "./storage.ts";

/** A file that came in with a message. */
export interface InboundFile {
  agent: { readonly id: string };
  conversation: { readonly id: string };
  /** The message that the file came with, if it has an id already. */
  messageId?: string;
  /** The sender's name for the file. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** The type that the sender claims; `contentType` decides. */
  mime: string;
}

/** A file as the wire shows it. */
export interface Attachment {
  id: string;
  name: string;
  mime: string;
  size: number;
  url: string;
}

/**
 * Stores a file of a conversation. Throws 403 while the agent takes no attachments, 404 for a conversation that is
 * gone, 409 when there is nowhere to store it, 413 over 20 MB, 502 when the storage fails.
 */
export async function storeFile(services: Services, inbound: InboundFile): Promise<Attachment> {
  const { agent, conversation, messageId = null, bytes } = inbound;
  if (bytes.length > longestFile) throw new EngineError("too-large", "A file may have at most 20 MB");
  const organizationId = await requireAttachments(services, inbound);
  const id = newId();
  const { objects, key, ...place } = await placeFor(services, agent.id, id);
  const [name, mime] = [fileName(inbound.name), contentType(bytes, inbound.mime)];
  const sha256 = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  const { db } = services.database;
  const row = { id, organizationId, agentId: agent.id, conversationId: conversation.id, messageId, name, mime, sha256 };
  const createdAt = new Date(services.clock.now());
  await db
    .insert(files)
    .values({ ...row, ...place, size: bytes.length, status: "pending", createdAt })
    .catch(unlessGone);
  // A failure from here on leaves a pending row, which the sweep deletes together with the stored bytes.
  await objects.put(key, bytes, mime);
  const stored = await db
    .update(files)
    .set({ status: "stored" })
    .where(and(eq(files.id, id), eq(files.status, "pending")))
    .returning({ id: files.id });
  if (stored.length === 0) {
    // The conversation was deleted meanwhile, and perhaps its files before this one was stored.
    await objects.delete(key);
    throw notFound("Conversation");
  }
  return { id, name, mime, size: bytes.length, url: fileAddress(id) };
}

/** The organization of the agent. Throws 404 for the conversation, 403 when the agent takes no attachments. */
async function requireAttachments(
  { database }: Services,
  { agent, conversation }: Pick<InboundFile, "agent" | "conversation">,
): Promise<string> {
  const [found] = await database.db
    .select({ organizationId: agents.organizationId, enabled: agents.attachmentsEnabled })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(and(eq(conversations.id, conversation.id), eq(agents.id, agent.id)));
  if (!found) throw notFound("Conversation");
  if (found.enabled) return found.organizationId;
  throw new EngineError("forbidden", "The agent takes no attachments: turn on attachmentsEnabled");
}

/** Throws the 404 of a conversation that was deleted between the check and the insert. */
function unlessGone(error: unknown): never {
  throw sqlState(error) === "23503" ? notFound("Conversation") : error;
}
