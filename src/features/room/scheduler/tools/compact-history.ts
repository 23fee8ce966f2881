import { z } from "@hono/zod-openapi";
import { eq } from "drizzle-orm";
import { storable } from "../../../../core/text/text.ts";
import { conversations, rooms } from "../../../../db/schema.ts";
import type { Tool } from "../../../../turn/types.ts";
import { builtin } from "../../../tools/index.ts";
import { longestSummary } from "../compact.ts";
import type { RoomAgent, ToolDependencies } from "./dependencies.ts";

const tool = builtin({
  name: "compactRoomHistory",
  description:
    "Replaces what happened in this conversation before by a summary, once the history has become long. You read the summary from the next turn on, and nothing of what it stands for.",
  category: "Room",
  input: z.object({
    summary: z
      .string()
      .trim()
      .min(1)
      .max(longestSummary)
      .describe("All of it that you may still need: what is open, what was decided, names, numbers and ids."),
  }),
  effect: "none",
  seesSecrets: false,
});

/** Hides the Room's messages before the turn; from the next turn on the summary replaces them. */
export function compactRoomHistory({ services: { database } }: ToolDependencies, { id: agentId }: RoomAgent): Tool {
  return tool.implement(async ({ summary }, { conversation }) => {
    if (!conversation) throw new Error("Nothing of this conversation is stored, so there is nothing to replace");
    await database.transaction(async (tx) => {
      const [stored] = await tx
        .select({ lastSeq: conversations.lastSeq })
        .from(conversations)
        .where(eq(conversations.id, conversation.id));
      const change = { historySummary: storable(summary), compactedSeq: stored?.lastSeq ?? 0 };
      await tx.update(rooms).set(change).where(eq(rooms.agentId, agentId));
    });
    return { compacted: true };
  });
}
