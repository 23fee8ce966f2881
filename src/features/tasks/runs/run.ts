import type { Services } from "../../../context/ctx.ts";
import type { Activity } from "../../../core/activity/activity.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { type AttemptResult, type Fate, fateOf, isStored, repeatLater, type Turns } from "../../turns/index.ts";
import { endRun, noteAttempt, noteWaiting, type RunEnd } from "./end.ts";
import { type OpenRun, readOpenRun } from "./store.ts";
import { closedFor, runAttempt } from "./turn.ts";

interface Dependencies {
  services: Services;
  turns: Turns;
}

/** How long a run waits for an earlier turn of it in another process, in milliseconds. */
const runningMs = 5_000;

/**
 * Runs a task once. The turns of the run's conversation show how an earlier attempt ended, so a repeated job takes no
 * second turn for a finished run.
 */
export function runTask({ services, turns }: Dependencies): JobHandler<{ runId: string }> {
  const { database, clock } = services;
  return async ({ payload: { runId }, attempt: begun }, signal) => {
    const found = await readOpenRun(database.db, runId);
    if (!found) return;
    const { run } = found;
    const fate = run.status === "queued" ? notBegun : await fateOf(database, run.conversationRef ?? "");
    if (fate.kind === "running") throw new Postponed("Its turn still runs", clock.now() + runningMs);
    if (fate.kind === "waiting") return noteWaiting(database, run.id);
    const ending = endingOf(fate);
    if (ending) return endRun(services, found, ending);
    const closed = await closedFor(services, found.task);
    if (closed) return endRun(services, found, { status: "skipped", output: null, error: closed });
    // If a process died in an attempt, only the job counted that attempt.
    const tried = Math.max(begun - 1, run.attempts) + 1;
    if (!(await noteAttempt(database, run.id, { attempts: tried, now: new Date(clock.now()) }))) return;
    if (run.status === "queued") services.activity.emit(firing(found));
    const attempted = await turns.attempt(runAttempt(found, tried, signal));
    await storeEnd(services, found, attempted);
    repeatLater(clock, attempted);
  };
}

/** The activity event of a starting run. */
function firing({ run, task, agent }: OpenRun): Activity {
  const { id: taskId, name } = task;
  const conversationId = run.conversationRef;
  return { kind: "cron", text: `The task "${name}" runs`, agent, conversationId, cron: { taskId, name } };
}

const notBegun: Fate = { kind: "open" };

/** How the run ended, by its turns; null when it may be started. */
export function endingOf(fate: Fate): RunEnd | null {
  if (fate.kind === "done") return { status: "completed", output: fate.text, error: null };
  return fate.kind === "failed" ? { status: "failed", output: fate.text, error: fate.reason } : null;
}

/** Stores how an attempt ended. */
async function storeEnd(services: Services, found: OpenRun, { end, turn, tried }: AttemptResult): Promise<void> {
  const { database, log } = services;
  const { run, task } = found;
  const output = turn?.outcome.text ?? null;
  if (end.kind === "done") return endRun(services, found, { status: "completed", output, error: null });
  if (end.kind === "approval") return noteWaiting(database, run.id);
  const { reason: error } = end;
  if (end.kind === "defer") return void (await noteAttempt(database, run.id, { attempts: tried - 1, error }));
  const about = { runId: run.id, taskId: task.id, attempts: tried, reason: error };
  if (end.kind === "retry") {
    log.warn(about, "A task will be tried again");
    return void (await noteAttempt(database, run.id, { attempts: tried, error }));
  }
  log.warn(about, "A task failed");
  await endRun(services, found, { status: "failed", output: isStored(end) ? output : null, error });
}
