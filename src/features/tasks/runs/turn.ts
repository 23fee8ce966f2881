import type { Services } from "../../../context.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { closedTo, outboundPlace, repliesElsewhere } from "../../inbox/index.ts";
import {
  type AlongsideOf,
  type TurnRequest,
  type Turns,
  type Unattended,
  type WatchedTools,
  wasStopped,
  watchTools,
} from "../../turns/index.ts";
import { channelIdOf, refOf } from "./conversation.ts";
import type { OpenRun } from "./read.ts";
import { silence } from "./silence.ts";

/** Takes the turn of a run, to its end. Throws the refusals before the turn. */
export function takeRun(turns: Turns, found: OpenRun, signal: AbortSignal): Promise<Unattended> {
  const watched = watchTools();
  return turns.takeUnattended(found.slug, requestOf(found, watched), { signal, watched });
}

/**
 * Why a person gets no more of a task that the agent made when the person asked for it; null where the person still may.
 * What the operator made goes where the operator wants it.
 */
export async function closedFor(
  services: Services,
  { source, agentId, ...task }: OpenRun["task"],
): Promise<string | null> {
  const place = source === "agent" ? outboundPlace(agentId, task) : null;
  return place && closedTo(services, place);
}

function requestOf({ run, task, slug }: OpenRun, watched: WatchedTools): TurnRequest {
  const ref = refOf(slug, run);
  const { name, subject, userName, prompt } = task;
  return {
    door: "tasks",
    ref,
    stored: true,
    title: name,
    origin: {
      ...{ channel: "scheduled", channelId: channelIdOf(run), source: "scheduled", depth: 0 },
      subject: subject || subjectKey("conversation", ref),
      ...(userName === null ? {} : { userName }),
    },
    input: { history: [], fresh: [prompt] },
    rule: "always-finish",
    requestId: run.id,
    throttle: null,
    // Of two processes that both hold the run, one takes its turn.
    idempotency: { key: run.id, digest: run.id },
    alongside: alongsideOf(task, watched),
  };
}

/** What is written with the end of the turn: the reply leaves, or nothing happened and the run may be tried again. */
function alongsideOf(task: OpenRun["task"], watched: WatchedTools): AlongsideOf {
  const place = outboundPlace(task.agentId, task);
  const replies = place ? repliesElsewhere(place) : silence;
  return (outcome, turnId) => {
    const isInterrupted = outcome.status === "aborted" && !wasStopped(outcome);
    const isUndone = (isInterrupted || outcome.status === "failed") && !watched.acted();
    return isUndone ? { ...silence(outcome, turnId), discarded: true } : replies(outcome, turnId);
  };
}
