import { eq } from "drizzle-orm";
import { roomEvents, rooms } from "../../../../db/schema.ts";
import type { Tool } from "../../../../turn/types.ts";
import type { ContinuedBy } from "../../../turns/index.ts";
import { compactRoomHistory } from "./compact-history.ts";
import { markEventsCompleted } from "./complete-events.ts";
import type { RoomAgent, ToolDependencies } from "./dependencies.ts";
import { sendMessageOfRoom, sendMessageTool } from "./send-message.ts";

export type { RoomAgent, ToolDependencies } from "./dependencies.ts";

/**
 * The tools of a turn in an agent's Room that the agent does not have otherwise. `claim` identifies the turn's entries:
 * if the agent asks a person without naming an entry, all of them wait.
 */
export function roomTools(needs: ToolDependencies, agent: RoomAgent, claim: string): readonly Tool[] {
  return [markEventsCompleted(needs, agent), sendMessageOfRoom(needs, agent, claim), compactRoomHistory(needs, agent)];
}

/**
 * Returns the Room's tools, and the same part of the Room's history, for a turn of a Room or an event that continues
 * after an approval.
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
