import type { Services } from "../../context/ctx.ts";
import { type ActingAgent, asActing } from "../../core/activity/activity.ts";
import type { Embedder } from "../../core/ports.ts";
import { sqlState } from "../../db/client.ts";
import type { Tool, ToolContext } from "../../turn/types.ts";
import { saveMemory as saveTool, searchMemory as searchTool } from "../tools/index.ts";
import { enqueueEmbedding } from "./meaning/embed.ts";
import { searchMemories } from "./recall.ts";
import { saveMemory, writtenMemory } from "./store.ts";

interface Rememberer extends ActingAgent {
  memoryEnabled: boolean;
}

const usualResults = 5;

/** The tools `saveMemory` and `searchMemory` of an agent, about the turn's end user. */
export function memoryTools(
  services: Pick<Services, "database" | "clock" | "log" | "options" | "activity">,
  agent: Rememberer,
  embedderNow: () => Embedder | null = () => null,
): Tool[] {
  const { database } = services;

  const save = saveTool.implement(async (fact, { origin, conversation }) => {
    requireSubject(agent, origin);
    if (!conversation) throw new Error("Nothing of this conversation is stored, so nothing can be remembered");
    const saved = await saveMemory(database, {
      ...fact,
      agent,
      subject: origin.subject,
      conversationId: conversation.id,
    }).catch((error: unknown) => {
      throw sqlState(error) === "23503" ? new Error("This assistant is being deleted") : error;
    });
    services.activity.emit(writtenMemory(asActing(agent), conversation.ref, saved));
    await enqueueEmbedding(services, database.db, agent);
    const { content, category, importance } = saved.memory;
    return { event: saved.event, memory: { content, category, importance } };
  });
  const search = searchTool.implement(async ({ query, limit = usualResults }, { origin }) => {
    requireSubject(agent, origin);
    const embedder = embedderNow();
    const meaning = embedder && { ...services, embedder };
    const about = { agentId: agent.id, subject: origin.subject };
    const found = await searchMemories(database, { ...about, query, limit, meaning });
    return {
      memories: found.map(({ content, category, importance, updatedAt }) => ({
        content,
        category,
        importance,
        updatedAt: updatedAt.toISOString(),
      })),
    };
  });
  return [save, search];
}

/** Throws an `Error` for the model when there is no end user, since such a memory would apply to everybody. */
function requireSubject({ memoryEnabled }: Rememberer, { subject }: ToolContext["origin"]): void {
  if (!memoryEnabled) throw new Error("This assistant's memory is turned off");
  if (subject === "") throw new Error("It is not known whom this conversation is with, so nothing can be remembered");
}
