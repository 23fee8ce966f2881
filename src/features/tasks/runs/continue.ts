import { and, eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { taskRuns } from "../../../db/schema.ts";
import { continuedElsewhere, outboundPlace } from "../../inbox/index.ts";
import { type AlongsideOf, type ContinuedBy, nothing } from "../../turns/index.ts";
import { plannedOf } from "./conversation.ts";
import { selectRuns } from "./read.ts";
import { runJob } from "./store.ts";
import { closedFor } from "./turn.ts";

/**
 * The rows that are written with a run's turn that continues after a person's decision. Its reply is sent to the task's
 * destination. So is a notice of its failure, since it is taken once. The job of the run ends the run.
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
