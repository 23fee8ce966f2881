import type { Tool } from "../../../../turn/types.ts";
import { compactRoomHistory } from "./compact-history.ts";
import { markEventsCompleted } from "./complete-events.ts";
import type { RoomAgent, ToolDependencies } from "./dependencies.ts";
import { sendMessageOfRoom } from "./send-message.ts";

export type { RoomAgent, ToolDependencies } from "./dependencies.ts";
export { sendMessageTool } from "./send-message.ts";

/**
 * The tools of a turn in an agent's Room, beside the agent's own. `claim` is what the entries of the turn have as theirs:
 * they wait where the agent asks a person without naming one of them.
 */
export function roomTools(needs: ToolDependencies, agent: RoomAgent, claim: string): readonly Tool[] {
  return [markEventsCompleted(needs, agent), sendMessageOfRoom(needs, agent, claim), compactRoomHistory(needs, agent)];
}
