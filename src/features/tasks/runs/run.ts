import type { Services } from "../../../context.ts";
import type { Activity } from "../../../core/activity/activity.ts";
import { EngineError } from "../../../core/errors.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import {
  type Fate,
  fateOf,
  type Setback,
  setbackOf,
  setbackOfTurn,
  stopped,
  type Turns,
  type Unattended,
  wasStopped,
} from "../../turns/index.ts";
import { type Ending, endRun, noteAttempt, noteWaiting } from "./end.ts";
import { type OpenRun, readOpenRun } from "./read.ts";
import { closedFor, takeRun } from "./turn.ts";

interface Needs {
  services: Services;
  turns: Turns;
}

/** How long a run waits for a turn of it that another process may still run, in milliseconds. */
const patienceMs = 5_000;

/**
 * Runs a task once. What an earlier attempt came to stands in the turns of the run's conversation, so that a job that
 * runs again takes no second turn for a run that is done.
 */
export function runTask({ services, turns }: Needs): JobHandler<{ runId: string }> {
  const { database, clock } = services;
  return async ({ payload: { runId: id }, attempt: begun }, signal) => {
    const found = await readOpenRun(database.db, id);
    if (!found) return;
    const { run } = found;
    const fate = run.status === "queued" ? notBegun : await fateOf(database, run.conversationRef ?? "");
    if (fate.kind === "running") throw new Postponed("Its turn still runs", clock.now() + patienceMs);
    if (fate.kind === "waiting") return noteWaiting(database, run.id);
    const ending = endingOf(fate);
    if (ending) return endRun(services, found, ending);
    const closed = await closedFor(services, found.task);
    if (closed) return endRun(services, found, { status: "skipped", output: null, error: closed });
    // An attempt that ended with its process was noted by the job only.
    const attempts = Math.max(begun - 1, run.attempts) + 1;
    if (!(await noteAttempt(database, run.id, { attempts, now: new Date(clock.now()) }))) return;
    if (run.status === "queued") services.activity.emit(firing(found));
    const attempt = { services, found, attempts };
    try {
      const taken = await takeRun(turns, found, signal);
      await conclude(attempt, taken);
    } catch (error) {
      if (error instanceof Postponed || signal.aborted) throw error;
      const setback = isTaken(error)
        ? { kind: "wait" as const, reason: error.message, ms: patienceMs }
        : setbackOf(error);
      const { id: runId, taskId } = run;
      if (setback.kind === "again") services.log.error({ runId, taskId, err: error }, "A task's run met an error");
      await setBack(attempt, setback);
    }
  };
}

/** What activity tells of a run that begins. */
function firing({ run, task, agent }: OpenRun): Activity {
  const { id: taskId, name } = task;
  const conversationId = run.conversationRef;
  return { kind: "cron", text: `The task "${name}" runs`, agent, conversationId, cron: { taskId, name } };
}

/** Whether another process took the turn in this moment. */
const isTaken = (error: unknown): error is EngineError => error instanceof EngineError && error.code === "conflict";

const notBegun: Fate = { kind: "open" };

/** The ending that the turns of a run show; null where it may be taken. */
export function endingOf(fate: Fate): Ending | null {
  if (fate.kind === "done") return { status: "completed", output: fate.text, error: null };
  return fate.kind === "failed" ? { status: "failed", output: fate.text, error: fate.reason } : null;
}

interface Attempt {
  services: Services;
  found: OpenRun;
  /** This one included. */
  attempts: number;
}

/** Notes how the turn ended. Throws `Postponed` where another one is to be taken. */
async function conclude(attempt: Attempt, { outcome, acted }: Unattended): Promise<void> {
  const { services, found } = attempt;
  const { text: output } = outcome;
  if (outcome.status === "done") return endRun(services, found, { status: "completed", output, error: null });
  if (outcome.status === "approval") return noteWaiting(services.database, found.run.id);
  if (wasStopped(outcome)) return endRun(services, found, { status: "failed", output, error: stopped });
  const setback: Setback =
    outcome.status === "failed"
      ? setbackOfTurn(outcome.failure)
      : { kind: "wait", reason: "The turn was interrupted", ms: 0 };
  if (!acted) return setBack(attempt, setback);
  const error = `${setback.reason}. It is not tried again, since tools were called`;
  await endRun(services, found, { status: "failed", output, error });
}

/** Notes that nothing came of an attempt: the run is tried again, for which it throws `Postponed`, or has failed. */
async function setBack({ services, found, attempts }: Attempt, setback: Setback): Promise<void> {
  const { database, clock, log } = services;
  const { run, task } = found;
  const { kind, reason } = setback;
  if (kind === "wait") {
    await noteAttempt(database, run.id, { attempts: attempts - 1, error: reason });
    throw new Postponed(reason, clock.now() + setback.ms);
  }
  const isFinal = kind !== "again" || attempts > task.maxRetries;
  log.warn(
    { runId: run.id, taskId: task.id, attempts, reason },
    isFinal ? "A task failed" : "A task will be tried again",
  );
  if (isFinal) return endRun(services, found, { status: "failed", output: null, error: reason });
  await noteAttempt(database, run.id, { attempts, error: reason });
  throw new Postponed(reason, clock.now() + Math.max(setback.ms, backoffMs(attempts, Math.random())));
}
