import type { Services } from "../../../context/ctx.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { closedTo, outboundPlace, repliesElsewhere } from "../../inbox/index.ts";
import { type Attempt, isStored, nothing, type TurnRequest } from "../../turns/index.ts";
import { channelIdOf, refOf } from "./conversation.ts";
import type { OpenRun } from "./read.ts";

/** The attempt to take the turn of a run. `tried` counts it. */
export function runAttempt(found: OpenRun, tried: number, signal: AbortSignal): Attempt {
  const { run, task, slug } = found;
  const place = outboundPlace(task.agentId, task);
  return {
    slug,
    tries: { tried, most: task.maxRetries + 1 },
    signal,
    about: { runId: run.id, taskId: task.id },
    request: async () => requestOf(found),
    /** The reply leaves, or nothing happened and the run may be tried again. */
    alongside(outcome, turnId, end) {
      if (!isStored(end)) return null;
      return place ? repliesElsewhere(place)(outcome, turnId) : nothing;
    },
  };
}

/**
 * Why a person gets no more of a task that the agent made when the person asked for it; null where the person still may.
 * Always null for a task of an operator.
 */
export async function closedFor(
  services: Services,
  { source, agentId, ...task }: OpenRun["task"],
): Promise<string | null> {
  const place = source === "agent" ? outboundPlace(agentId, task) : null;
  return place && closedTo(services, place);
}

function requestOf({ run, task, slug }: OpenRun): Omit<TurnRequest, "alongside"> {
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
    // Only one of two processes with the same run can take its turn.
    idempotency: { key: run.id, digest: run.id },
  };
}
