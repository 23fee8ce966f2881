import type { Services } from "../../context.ts";
import { sqlState } from "../../db/client.ts";
import type { Tool, ToolContext } from "../../turn/types.ts";
import { saveMemory as saveTool, searchMemory as searchTool } from "../tools/index.ts";
import { searchMemories } from "./recall.ts";
import { saveMemory } from "./store.ts";

interface Rememberer {
  id: string;
  organizationId: string;
  memoryEnabled: boolean;
}

const usualResults = 5;

/** `saveMemory` and `searchMemory` of an agent; whom they are about is the end user of the turn. */
export function memoryTools({ database }: Pick<Services, "database">, agent: Rememberer): Tool[] {
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
    const { content, category, importance } = saved.memory;
    return { event: saved.event, memory: { content, category, importance } };
  });
  const search = searchTool.implement(async ({ query, limit = usualResults }, { origin }) => {
    requireSubject(agent, origin);
    const found = await searchMemories(database, { agentId: agent.id, subject: origin.subject, query, limit });
    return {
      memories: found.map(({ content, category, importance, updatedAt }) => ({
        ...{ content, category, importance },
        updatedAt: updatedAt.toISOString(),
      })),
    };
  });
  return [save, search];
}

/** What is about nobody is everybody's: no conversation may write there. */
function requireSubject({ memoryEnabled }: Rememberer, { subject }: ToolContext["origin"]): void {
  if (!memoryEnabled) throw new Error("This assistant's memory is turned off");
  if (subject === "") throw new Error("It is not known whom this conversation is with, so nothing can be remembered");
}
