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
 * The tools of a turn in an agent's Room, beside the agent's own. `claim` is what the entries of the turn have as theirs:
 * they wait where the agent asks a person without naming one of them.
 */
export function roomTools(needs: ToolDependencies, agent: RoomAgent, claim: string): readonly Tool[] {
  return [markEventsCompleted(needs, agent), sendMessageOfRoom(needs, agent, claim), compactRoomHistory(needs, agent)];
}

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
