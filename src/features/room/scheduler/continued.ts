import { eq } from "drizzle-orm";
import { roomEvents, rooms } from "../../../db/schema.ts";
import type { ContinuedBy } from "../../turns/index.ts";
import { roomTools, sendMessageTool, type ToolNeeds } from "./tools/index.ts";

/** The tools of a turn of a Room, or of one for an event, that continues after a person's decision. */
export function continuedTools(needs: ToolNeeds): ContinuedBy {
  return async ({ channel, agentId, ref, turnId }) => {
    if (channel !== "room") return {};
    const { db } = needs.services.database;
    const [room] = await db.select().from(rooms).where(eq(rooms.conversationRef, ref));
    if (room) return { tools: roomTools(needs, { id: agentId, organizationId: room.organizationId }, turnId) };
    const [event] = await db.select().from(roomEvents).where(eq(roomEvents.conversationRef, ref));
    if (!event) return {};
    const { organizationId, definitionId } = event;
    return { tools: [sendMessageTool(needs, { id: agentId, organizationId }, definitionId)] };
  };
}
