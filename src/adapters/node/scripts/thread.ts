import { Worker } from "node:worker_threads";
import type { JsonValue } from "../../../core/json.ts";
import type { Clock, Log, ScriptResult } from "../../../core/ports.ts";
import { workerFile } from "../worker-file.ts";
import { type ScriptOrder, type ScriptOutcome, type ScriptReport, tooLate, tooMuchMemory } from "./order.ts";

/** A waiting or running script. */
export interface ScriptJob {
  order: ScriptOrder;
  owner: string | undefined;
  logs: string[];
  /** Called at most once. */
  end(result: ScriptResult): void;
}

export interface ScriptThread {
  /** The running job. */
  readonly job: ScriptJob | undefined;
  isFree(): boolean;
  /** Begins a job; only for a free thread. */
  begin(job: ScriptJob): void;
  /** Ends the thread at once, without a result for its job. */
  end(): void;
}

interface Options {
  clock: Clock;
  log: Log;
  /** Called after each job. */
  onFree(): void;
  /** Called when the thread has ended. */
  onGone(): void;
}

const idleMs = 60_000;
/** How long a script may take to reach its first line, in milliseconds. A running thread needs almost none of it. */
const startMs = 10_000;
/** How late the interpreter may notice that a script's time is over, in milliseconds. */
const graceMs = 500;

const threadFailed = "The sandbox of the script failed; try again";

/** A thread that runs one script at a time. It ends after an idle minute, and when a script exceeds its time. */
export function startThread({ clock, log, onFree, onGone }: Options): ScriptThread {
  const worker = openWorker();
  let job: ScriptJob | undefined;
  let ending = false;
  let cancelTimer = () => {};

  const endJob = (resultOf: (logs: string[]) => ScriptResult) => {
    cancelTimer();
    worker.unref();
    const ended = job;
    job = undefined;
    ended?.end(resultOf(ended.logs));
  };
  const failJob = (error: string) => endJob((logs) => ({ ok: false, error, logs }));
  const end = () => {
    ending = true;
    cancelTimer();
    job = undefined;
    void worker.terminate();
  };
  const endAfter = (ms: number, { timeoutMs }: ScriptOrder) => {
    cancelTimer();
    cancelTimer = clock.after(ms, () => {
      failJob(tooLate(timeoutMs));
      end();
    });
  };

  worker.on("message", (report: ScriptReport) => {
    if (!job) return;
    if ("logged" in report) job.logs.push(report.logged);
    else if ("started" in report) endAfter(job.order.timeoutMs + graceMs, job.order);
    else {
      endJob((logs) => readOutcome(report.outcome, logs));
      cancelTimer = clock.after(idleMs, end);
      onFree();
    }
  });
  worker.on("error", (err: NodeJS.ErrnoException) => {
    ending = true;
    const outOfMemory = err.code === "ERR_WORKER_OUT_OF_MEMORY";
    if (!outOfMemory) log.error({ err }, "A thread that runs scripts failed");
    failJob(outOfMemory ? tooMuchMemory : threadFailed);
  });
  worker.on("exit", () => {
    ending = true;
    failJob(threadFailed);
    onGone();
  });

  return {
    get job() {
      return job;
    },
    isFree: () => !job && !ending,
    begin(next) {
      job = next;
      worker.ref();
      endAfter(startMs + next.order.timeoutMs, next.order);
      worker.postMessage(next.order);
    },
    end,
  };
}

/** The thread gets neither the process's environment nor its streams, and little memory in addition to the sandbox's. */
function openWorker(): Worker {
  const worker = new Worker(workerFile("scripts"), {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 32 },
  });
  // The interpreter prints only when it breaks, and nothing that helps.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}

function readOutcome(outcome: ScriptOutcome, logs: string[]): ScriptResult {
  if (!outcome.ok) return { ok: false, error: outcome.error, logs };
  return { ok: true, result: JSON.parse(outcome.json) as JsonValue, logs };
}
