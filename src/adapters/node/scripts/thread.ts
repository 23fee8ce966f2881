import { Worker } from "node:worker_threads";
import type { JsonValue } from "../../../core/json.ts";
import type { Clock, Log, ScriptResult } from "../../../core/ports.ts";
import { workerFile } from "../worker-file.ts";
import { type ScriptOrder, type ScriptOutcome, type ScriptReport, tooLate, tooMuchMemory } from "./order.ts";

/** A script that waits or runs; `settle` is called at most once. */
export interface ScriptJob {
  order: ScriptOrder;
  owner: string | undefined;
  logs: string[];
  settle(result: ScriptResult): void;
}

export interface ScriptThread {
  isFree(): boolean;
  isAt(job: ScriptJob): boolean;
  /** Only for a thread that is free. */
  begin(job: ScriptJob): void;
  /** Ends it whatever it does; its job is not settled. */
  end(): void;
}

interface Options {
  clock: Clock;
  log: Log;
  /** After a job. */
  onFree(): void;
  /** When it has ended for good. */
  onGone(): void;
}

const idleMs = 60_000;
/** From the order to the script's first line; only a thread that was just started needs a part of it. */
const startMs = 10_000;
/** How long after its time the interpreter may take to notice. */
const graceMs = 500;

const threadFailed = "The sandbox of the script failed; try again";

/** A thread that runs one script at a time. It ends after a minute without one, or when a script does not end in time. */
export function startThread({ clock, log, onFree, onGone }: Options): ScriptThread {
  const worker = openWorker();
  let job: ScriptJob | undefined;
  let ending = false;
  let stopWaiting = () => {};

  const settle = (result: (logs: string[]) => ScriptResult) => {
    stopWaiting();
    worker.unref();
    const done = job;
    job = undefined;
    done?.settle(result(done.logs));
  };
  const end = () => {
    ending = true;
    stopWaiting();
    job = undefined;
    void worker.terminate();
  };
  const endAfter = (ms: number, order: ScriptOrder) => {
    stopWaiting();
    stopWaiting = clock.after(ms, () => {
      settle((logs) => ({ ok: false, error: tooLate(order.timeoutMs), logs }));
      end();
    });
  };

  worker.on("message", (report: ScriptReport) => {
    if (!job) return;
    if ("logged" in report) job.logs.push(report.logged);
    else if ("started" in report) endAfter(job.order.timeoutMs + graceMs, job.order);
    else {
      settle((logs) => readOutcome(report.outcome, logs));
      stopWaiting = clock.after(idleMs, end);
      onFree();
    }
  });
  worker.on("error", (err: NodeJS.ErrnoException) => {
    ending = true;
    const outOfMemory = err.code === "ERR_WORKER_OUT_OF_MEMORY";
    if (!outOfMemory) log.error({ err }, "A thread that runs scripts failed");
    settle((logs) => ({ ok: false, error: outOfMemory ? tooMuchMemory : threadFailed, logs }));
  });
  worker.on("exit", () => {
    ending = true;
    settle((logs) => ({ ok: false, error: threadFailed, logs }));
    onGone();
  });

  return {
    isFree: () => !job && !ending,
    isAt: (other) => job === other,
    begin(next) {
      job = next;
      worker.ref();
      endAfter(startMs + next.order.timeoutMs, next.order);
      worker.postMessage(next.order);
    },
    end,
  };
}

/** It has none of the process' environment and streams, and little memory besides that of the sandbox. */
function openWorker(): Worker {
  const worker = new Worker(workerFile("scripts"), {
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 32 },
  });
  // What the interpreter prints when it breaks is of no use to anybody.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  return worker;
}

function readOutcome(outcome: ScriptOutcome, logs: string[]): ScriptResult {
  if (!outcome.ok) return { ok: false, error: outcome.error, logs };
  return { ok: true, result: JSON.parse(outcome.json) as JsonValue, logs };
}
