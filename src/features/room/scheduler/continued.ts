import { eq } from "drizzle-orm";
import { roomEvents, rooms } from "../../../db/schema.ts";
import type { ContinuedBy } from "../../turns/index.ts";
import { roomTools, sendMessageTool, type ToolDependencies } from "./tools/index.ts";

/**
 * Gives a turn of a Room, or of an event, its tools again when it continues after a person's decision, and the same
 * part of the Room's history as before.
 */
export function continuedTools(needs: ToolDependencies): ContinuedBy {
  return async ({ channel, agentId, ref, turnId }) => {
    if (channel !== "room") return {};
    const { db } = needs.services.database;
    const [room] = await db.select().from(rooms).where(eq(rooms.conversationRef, ref));
    if (room) {
      const owner = { id: agentId, organizationId: room.organizationId };
      return { tools: roomTools(needs, owner, turnId), historyAfter: room.compactedSeq };
    }
    const [event] = await db.select().from(roomEvents).where(eq(roomEvents.conversationRef, ref));
    if (!event) return {};
    const { organizationId, definitionId } = event;
    return { tools: [sendMessageTool(needs, { id: agentId, organizationId }, definitionId)] };
  };
}
