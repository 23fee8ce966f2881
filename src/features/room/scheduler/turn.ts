import { subjectKey } from "../../../core/channels/subjects.ts";
import { randomHex } from "../../../core/ids.ts";
import type { TurnRequest } from "../../turns/index.ts";
import type { Claimed } from "./claim.ts";
import { roomInput } from "./input.ts";
import type { Reply } from "./replies.ts";
import { roomTools, type ToolDependencies } from "./tools/index.ts";

/** The request of one turn for all that was claimed. */
export function roomRequest(
  needs: ToolDependencies,
  { agent, room, entries, claim }: Claimed,
  replies: readonly Reply[],
): Omit<TurnRequest, "alongside"> {
  const ref = room.conversationRef;
  const { prompt, historySummary: summary } = room;
  return {
    door: "room",
    origin: {
      ...{ channel: "room", channelId: ref.slice(ref.lastIndexOf(":") + 1), source: "room", depth: 0 },
      subject: subjectKey("conversation", ref),
    },
    ref,
    stored: true,
    title: "Room",
    input: { history: [], fresh: [roomInput({ prompt, summary, entries, replies, mark: randomHex(24) })] },
    historyAfter: room.compactedSeq,
    rule: "always-finish",
    requestId: claim,
    throttle: null,
    tools: roomTools(needs, agent, claim),
  };
}
