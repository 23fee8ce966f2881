import type { Services } from "../../../context/ctx.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { randomHex } from "../../../core/ids.ts";
import { patiently } from "../../../db/retry.ts";
import type { JobHandler, JobKinds } from "../../../jobs/attempt.ts";
import type { Failure } from "../../../turn/types.ts";
import {
  type AttemptEnd,
  type AttemptResult,
  giveUp,
  isStored,
  nothing,
  repeatLater,
  type TurnRequest,
  type Turns,
  watchTools,
} from "../../turns/index.ts";
import { claimWork, type RoomClaim } from "./claim.ts";
import { compactLongHistory } from "./compact.ts";
import { roomInput } from "./input.ts";
import { evaluateJob } from "./job.ts";
import { type Reply, readReplies } from "./replies.ts";
import { storeEnd } from "./store-end.ts";
import { roomTools, type ToolDependencies } from "./tools/index.ts";

interface Dependencies {
  services: Services;
  turns: Turns;
  /** Tells the worker that a job is due. */
  wake(): void;
}

/** In milliseconds. A turn may wait for other turns of its conversation, and policies allow a turn an hour. */
const longestMs = 3 * 60 * 60_000;

/** The jobs that run Rooms' turns. */
export function evaluateJobs(needs: Dependencies): JobKinds {
  const limit = () => needs.services.policies.values.roomSlots;
  return evaluateJob.doneBy(evaluate(needs), { limit, scarce: true, longestMs });
}

/** Runs a turn for the pending events of an agent's Room, or a turn without events when one is due. */
function evaluate(needs: Dependencies): JobHandler<{ agentId: string; run?: boolean | undefined }> {
  return async ({ payload: { agentId, run = false } }, signal) => {
    const claimed = await claimWork(needs.services, { agentId, run });
    if (!claimed) return;
    const { turns, services } = needs;
    const { conversationRef: ref } = claimed.room;
    const watched = watchTools();
    let repliesSeenAt: Date | null = null;
    const attempted = await turns.attempt({
      slug: claimed.agent.slug,
      // No limit for the turn, since each entry counts its own attempts.
      tries: { tried: 1, most: Number.POSITIVE_INFINITY, items: claimed.entries.length },
      signal,
      about: { agent: claimed.agent.slug, requestId: claimed.claim, conversationId: ref },
      async request() {
        const room = await compactLongHistory({ services, complete: turns.complete }, claimed, { signal });
        const replies = await readReplies(services.database.db, claimed);
        repliesSeenAt = replies.at(-1)?.at ?? null;
        return roomRequest(needs, { ...claimed, room }, replies);
      },
      alongside: (_outcome, _turnId, end) => (isStored(end) ? nothing : null),
      watched,
    });
    const end = roomEnd(attempted, watched.acted());
    const ended = { end, turnId: attempted.turn?.id ?? null, repliesSeenAt };
    // If the end were not stored, the work would count as lost and be repeated.
    await patiently(services.clock, () => storeEnd(services, claimed, ended));
    logEnd(services, claimed, end);
    signal.throwIfAborted();
    // After other ends the entries wait in the backlog.
    if (end.kind === "defer") repeatLater(services.clock, { ...attempted, end });
  };
}

/** The shortest pause after a rate limit of the provider, in milliseconds. */
const shortestRestMs = 60_000;

/** How a Room's turn ended. Unlike other work, a stopped turn is repeated, and a provider's rate limit is not counted. */
function roomEnd({ end, turn }: AttemptResult, acted: boolean): AttemptEnd {
  if (end.kind === "give-up" && end.why === "stopped" && acted) {
    return giveUp("tools-called", `${end.reason}. It is not tried again, since tools were called`);
  }
  if (end.kind !== "retry" || turn?.outcome.status !== "failed" || !isBusy(turn.outcome.failure)) return end;
  return { kind: "defer", reason: end.reason, ms: Math.max(end.ms, shortestRestMs) };
}

const isBusy = ({ code }: Failure) => code === "rate-limited" || code === "unavailable";

function logEnd({ log }: Services, { agent, entries, claim: requestId }: RoomClaim, end: AttemptEnd): void {
  if (!("reason" in end)) return;
  const { kind, reason } = end;
  const about = { agent: agent.slug, requestId, entries: entries.length, ending: kind, reason };
  log.warn(about, "A turn of a Room came to nothing");
}

/** The request of one turn for the whole claim. */
function roomRequest(
  needs: ToolDependencies,
  { agent, room, entries, claim }: RoomClaim,
  replies: readonly Reply[],
): Omit<TurnRequest, "alongside"> {
  const ref = room.conversationRef;
  const { prompt, historySummary: summary } = room;
  return {
    door: "room",
    origin: {
      channel: "room",
      channelId: ref.slice(ref.lastIndexOf(":") + 1),
      source: "room",
      depth: 0,
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
