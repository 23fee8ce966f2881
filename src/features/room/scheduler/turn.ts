import type { Services } from "../../../context.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { randomHex } from "../../../core/ids.ts";
import {
  type AlongsideOf,
  type TurnRequest,
  type Turns,
  type Unattended,
  type WatchedTools,
  wasStopped,
  watchTools,
} from "../../turns/index.ts";
import type { Claimed } from "./claim.ts";
import { roomInput } from "./input.ts";
import type { Reply } from "./replies.ts";
import { roomTools, type ToolNeeds } from "./tools/index.ts";

interface Needs extends ToolNeeds {
  services: Services;
  turns: Turns;
}

/** A turn of the Room, to its end. */
export interface RoomTurn extends Unattended {
  turnId: string | null;
}

/** Takes one turn for all that was claimed. Throws the refusals before the turn. */
export async function takeRoomTurn(
  needs: Needs,
  claimed: Claimed,
  replies: readonly Reply[],
  signal: AbortSignal,
): Promise<RoomTurn> {
  const watched = watchTools();
  let turnId: string | null = null;
  const request = requestOf(needs, claimed, replies, watched);
  const ended = await needs.turns.takeUnattended(claimed.agent.slug, request, {
    ...{ signal, watched },
    begun(turn) {
      turnId = turn.id;
      return () => {};
    },
  });
  return { ...ended, turnId };
}

function requestOf(
  needs: Needs,
  { agent, room, entries, claim }: Claimed,
  replies: readonly Reply[],
  watched: WatchedTools,
): TurnRequest {
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
    alongside: unlessRepeated(watched),
  };
}

/** A turn that is taken again leaves no messages: the next one says the same. One that called tools is remembered. */
function unlessRepeated(watched: WatchedTools): AlongsideOf {
  const nothing = { inboxIds: [], sends: [], work: [], supersededAfter: null };
  return (outcome) => {
    const hasFailed = outcome.status === "failed" || (outcome.status === "aborted" && !wasStopped(outcome));
    return hasFailed && !watched.acted() ? { ...nothing, discarded: true } : nothing;
  };
}
