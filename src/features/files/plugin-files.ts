import { and, eq } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import type { PluginFile, SavedFile } from "../../core/plugins/plugin.ts";
import { hasId } from "../../db/fragments.ts";
import { agents, conversations, files } from "../../db/schema.ts";
import { keepFile } from "./keep-file.ts";
import { linkTo } from "./links.ts";
import type { FileRow } from "./storage.ts";

/** The turn in which a plugin's tool runs. */
export interface Caller {
  agent: { readonly id: string };
  /** The id of the conversation's row, not its `ref`; null when nothing of the turn is stored. */
  conversationId: string | null;
}

/**
 * Stores a tool's file, and links to it for 24 hours. It does not need `attachmentsEnabled`, which is for files of
 * other people. Throws 409 without a stored conversation, and the errors of `keepFile`.
 */
export async function savePluginFile(
  services: Services,
  { agent, conversationId, file }: Caller & { file: PluginFile },
): Promise<SavedFile> {
  const conversation = await requireConversation(services, { agent, conversationId });
  return shown(services, await keepFile(services, { ...file, ...conversation, messageId: null }));
}

/** Makes a new link to a file of the same conversation, even one that a person sent. Throws 404 for all other files. */
export async function linkPluginFile(
  services: Services,
  { agent, conversationId, id }: Caller & { id: string },
): Promise<SavedFile> {
  const own = and(
    eq(files.agentId, agent.id),
    eq(files.conversationId, requireStored(conversationId)),
    eq(files.status, "stored"),
  );
  const [file] = await services.database.db
    .select()
    .from(files)
    .where(and(hasId(files.id, id), own));
  if (file) return shown(services, file);
  throw new EngineError("not-found", "This conversation has no such file");
}

function requireStored(conversationId: string | null): string {
  if (conversationId !== null) return conversationId;
  throw new EngineError(
    "conflict",
    "Files belong to a conversation, and this one is not stored, because its request has no chat_id",
  );
}

/** Throws the 404 for a conversation that was deleted or is another agent's. */
async function requireConversation({ database }: Services, { agent, conversationId }: Caller) {
  const [found] = await database.db
    .select({
      organizationId: conversations.organizationId,
      agentId: conversations.agentId,
      conversationId: conversations.id,
    })
    .from(conversations)
    .innerJoin(agents, eq(agents.id, conversations.agentId))
    .where(and(eq(conversations.id, requireStored(conversationId)), eq(agents.id, agent.id)));
  if (!found) throw notFound("Conversation");
  return found;
}

async function shown(services: Services, file: FileRow): Promise<SavedFile> {
  const { id, name, mime, size } = file;
  return { id, name, mime, size, ...(await linkTo(services, file)) };
}
