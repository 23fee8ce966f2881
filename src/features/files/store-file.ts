import { and, eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { agents, conversations } from "../../db/schema.ts";
import { keepFile, requireFitting } from "./keep-file.ts";
import { fileAddress } from "./rules.ts";

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
 * Stores a file that came in with a message. Throws 403 while the agent takes no attachments, and what `keepFile`
 * throws.
 */
export async function storeFile(services: Services, inbound: InboundFile): Promise<Attachment> {
  const { agent, conversation, messageId = null, name: given, bytes, mime: claimed } = inbound;
  requireFitting(bytes);
  const organizationId = await requireAttachments(services, inbound);
  const owner = { organizationId, agentId: agent.id, conversationId: conversation.id, messageId };
  const { id, name, mime, size } = await keepFile(services, { ...owner, name: given, bytes, mime: claimed });
  return { id, name, mime, size, url: fileAddress(id) };
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
