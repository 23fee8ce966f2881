import { and, eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { taskRuns } from "../../../db/schema.ts";
import { closedTo, continuedElsewhere, outboundPlace, repliesElsewhere } from "../../inbox/index.ts";
import {
  type AlongsideOf,
  type Attempt,
  type ContinuedBy,
  isStored,
  nothing,
  type TurnRequest,
} from "../../turns/index.ts";
import { channelIdOf, type OpenRun, plannedOf, refOf, runJob, selectRuns } from "./store.ts";

/** An attempt at the turn of a run; `tried` includes this attempt. */
export function runAttempt(found: OpenRun, tried: number, signal: AbortSignal): Attempt {
  const { run, task, slug } = found;
  const place = outboundPlace(task.agentId, task);
  return {
    slug,
    tries: { tried, most: task.maxRetries + 1 },
    signal,
    about: { runId: run.id, taskId: task.id },
    request: async () => requestOf(found),
    /** RECORD stores the reply for sending, or nothing if the run may be retried. */
    alongside(outcome, turnId, end) {
      if (!isStored(end)) return null;
      return place ? repliesElsewhere(place)(outcome, turnId) : nothing;
    },
  };
}

/**
 * Why a person no longer gets results of a task that the agent made for them; null while they do, and for tasks of
 * operators.
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
      channel: "scheduled",
      channelId: channelIdOf(run),
      source: "scheduled",
      depth: 0,
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

/**
 * The rows written with a run's turn that continues after an approval. Such a turn runs only once, so the task's
 * destination gets its reply or a notice of its failure. The run's job ends the run.
 */
export function continuedRun(services: Services): ContinuedBy {
  return async ({ agentId, channel, channelId }) => {
    const planned = channel === "scheduled" ? plannedOf(channelId) : null;
    if (!planned) return {};
    const { taskId, dueAt } = planned;
    const own = and(eq(taskRuns.taskId, taskId), eq(taskRuns.dueAt, dueAt), eq(taskRuns.agentId, agentId));
    const [found] = await selectRuns(services.database.db).where(own);
    if (!found) return {};
    const isClosed = (await closedFor(services, found.task)) !== null;
    const place = isClosed ? null : outboundPlace(agentId, found.task);
    const replies = place ? continuedElsewhere(place) : () => nothing;
    const alongside: AlongsideOf = (outcome, turnId) => {
      const rows = replies(outcome, turnId);
      return { ...rows, work: [...rows.work, runJob.of({ runId: found.run.id })] };
    };
    return { alongside };
  };
}
