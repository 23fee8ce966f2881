import { and, eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { agents, conversations } from "../../db/schema.ts";
import { keepFile, requireFitting } from "./keep-file.ts";
import { fileAddress } from "./rules.ts";

/** A file of an incoming message. */
export interface InboundFile {
  agent: { readonly id: string };
  conversation: { readonly id: string };
  /** The message's id, if it already has one. */
  messageId?: string;
  /** The sender's name for the file. */
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** The type claimed by the sender; `contentType` checks it. */
  mime: string;
}

/** A file in its API form. */
export interface Attachment {
  id: string;
  name: string;
  mime: string;
  size: number;
  url: string;
}

/**
 * Stores a file of an incoming message. Throws 403 while the agent accepts no attachments, and the errors of
 * `keepFile`.
 */
export async function storeFile(services: Services, inbound: InboundFile): Promise<Attachment> {
  const { agent, conversation, messageId = null, name: given, bytes, mime: claimed } = inbound;
  requireFitting(bytes);
  const organizationId = await requireAttachments(services, inbound);
  const owner = { organizationId, agentId: agent.id, conversationId: conversation.id, messageId };
  const { id, name, mime, size } = await keepFile(services, { ...owner, name: given, bytes, mime: claimed });
  return { id, name, mime, size, url: fileAddress(id) };
}

/** The organization of the agent. Throws 404 for the conversation, 403 when the agent accepts no attachments. */
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
