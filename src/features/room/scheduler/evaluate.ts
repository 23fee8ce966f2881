import type { Services } from "../../../context.ts";
import { patiently } from "../../../db/retry.ts";
import type { JobHandler, JobKinds } from "../../../jobs/attempt.ts";
import type { Asking } from "../../../jobs/complete.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import type { Failure } from "../../../turn/types.ts";
import { type Setback, setbackOf, setbackOfTurn, type Turns, wasStopped } from "../../turns/index.ts";
import { type Claimed, claimWork } from "./claim.ts";
import { compactLongHistory } from "./compact.ts";
import { type Concluded, conclude } from "./conclude.ts";
import type { Ending } from "./fates.ts";
import { evaluateJob } from "./kinds.ts";
import { readReplies } from "./replies.ts";
import { type RoomTurn, takeRoomTurn } from "./turn.ts";

interface Needs {
  services: Services;
  turns: Turns;
  /** Says that a job is due. */
  wake(): void;
}

/** A turn may wait for others of its conversation, and the policies let it take an hour. */
const longestMs = 3 * 60 * 60_000;

/** The jobs that take the turns of Rooms. */
export function evaluateJobs(needs: Needs): JobKinds {
  const limit = () => needs.services.policies.values.roomSlots;
  return evaluateJob.doneBy(evaluate(needs), { limit, scarce: true, longestMs });
}

/** Takes a turn for the events that wait in an agent's Room, or its proactive one. */
function evaluate(needs: Needs): JobHandler<{ agentId: string; run?: boolean | undefined }> {
  const { services } = needs;
  return async ({ payload: { agentId, run = false } }, signal, together) => {
    const claimed = await claimWork(services, { agentId, run });
    if (!claimed) return;
    const { postponedMs, ...concluded } = await workOn(needs, claimed, { signal, together });
    // Without its end noted, the work would be taken for lost and done once more.
    await patiently(services.clock, () => conclude(services, claimed, concluded));
    sayEnding(services, claimed, concluded.ending);
    signal.throwIfAborted();
    if (postponedMs !== null && "reason" in concluded.ending) {
      throw new Postponed(concluded.ending.reason, services.clock.now() + postponedMs);
    }
  };
}

/** What a turn came to, and after how many milliseconds the job is done once more; null for never. */
type Worked = Concluded & { postponedMs: number | null };

async function workOn(needs: Needs, claimed: Claimed, asking: Asking): Promise<Worked> {
  const { services, turns } = needs;
  const { signal } = asking;
  const nothing = { awaiting: null, repliesSeenAt: null, postponedMs: null };
  try {
    const room = await compactLongHistory({ services, complete: turns.complete }, claimed, asking);
    const replies = await readReplies(services.database.db, claimed);
    signal.throwIfAborted();
    const turn = await takeRoomTurn(needs, { ...claimed, room }, replies, signal);
    const worked = { ...nothing, ...endOf(turn, claimed) };
    const { kind } = worked.ending;
    if (kind !== "done" && kind !== "approval") return worked;
    const awaiting = kind === "approval" ? turn.turnId : null;
    return { ...worked, awaiting, repliesSeenAt: replies.at(-1)?.at ?? null };
  } catch (error) {
    if (signal.aborted) return { ...nothing, ending: { kind: "undone", reason: interrupted } };
    const setback = setbackOf(error);
    const { slug: agent } = claimed.agent;
    if (setback.kind === "again") services.log.error({ agent, err: error }, "A turn of a Room met an error");
    const postponedMs = setback.kind === "wait" ? setback.ms : null;
    return { ...nothing, ending: endingOfSetback(setback, claimed), postponedMs };
  }
}

const interrupted = "The turn was interrupted";
const stopped = "Somebody stopped the turn";

/** How long a provider that has no time is left alone at least, in milliseconds. */
const shortestRestMs = 60_000;

function endOf({ outcome, acted }: RoomTurn, claimed: Claimed): Pick<Worked, "ending" | "postponedMs"> {
  if (outcome.status === "done" || outcome.status === "approval") {
    return { ending: { kind: outcome.status }, postponedMs: null };
  }
  const setback = outcome.status === "failed" ? setbackOfTurn(outcome.failure) : null;
  const reason = setback?.reason ?? (wasStopped(outcome) ? stopped : interrupted);
  // Another turn would call its tools once more.
  if (acted)
    return { ending: { kind: "final", reason: `${reason}, after the agent had called tools` }, postponedMs: null };
  if (setback?.kind === "again" && outcome.status === "failed" && isBusy(outcome.failure)) {
    return { ending: { kind: "undone", reason }, postponedMs: Math.max(setback.ms, shortestRestMs) };
  }
  if (setback) return { ending: endingOfSetback(setback, claimed), postponedMs: null };
  if (wasStopped(outcome)) return { ending: { kind: "again", reason, ms: 0 }, postponedMs: null };
  return { ending: { kind: "undone", reason }, postponedMs: 0 };
}

const isBusy = ({ code }: Failure) => code === "rate-limited" || code === "unavailable";

function endingOfSetback(setback: Setback, { entries }: Claimed): Ending {
  const { kind, reason } = setback;
  if (kind === "wait") return { kind: "undone", reason };
  if (kind === "refused") return { kind, reason, alone: entries.length === 1 };
  return kind === "again" ? { kind, reason, ms: setback.ms } : { kind, reason };
}

function sayEnding({ log }: Services, { agent, entries, claim: requestId }: Claimed, ending: Ending): void {
  if (!("reason" in ending)) return;
  const { kind, reason } = ending;
  const about = { agent: agent.slug, requestId, entries: entries.length, ending: kind, reason };
  log.warn(about, "A turn of a Room came to nothing");
}
