import { FairQueue } from "../../../core/limits/fair-queue.ts";
import type { Clock, Log, ScriptResult, ScriptRun, Scripts } from "../../../core/ports.ts";
import type { ScriptOrder } from "./order.ts";
import { type ScriptJob, type ScriptThread, startThread } from "./thread.ts";

interface Options {
  clock: Clock;
  log: Log;
  /** The time limit of a script in milliseconds, without the time that it waits. */
  timeoutMs?: number;
}

const usualTimeoutMs = 5_000;
const mostThreads = 3;
/** One thread fewer than all, so that long scripts of one owner don't block all other owners. */
const mostThreadsOfOwner = mostThreads - 1;
const mostWaiting = 32;
const mostWaitingOfOwner = 8;
/** In characters. */
const longestOrder = 8 * 1024 * 1024;

/**
 * Runs scripts in at most three threads, two for one owner, so that an endless script blocks neither the event loop nor
 * other owners. Each script has an interpreter of its own. Waiting owners take turns. At most 32 scripts wait, 8 of one
 * owner; further ones are refused.
 */
export function threadedScripts(options: Options): Scripts {
  return new ScriptPool(options);
}

class ScriptPool implements Scripts {
  readonly #options: Options;
  readonly #threads = new Set<ScriptThread>();
  readonly #waiting = new FairQueue<ScriptJob>();

  constructor(options: Options) {
    this.#options = options;
  }

  async run(script: ScriptRun): Promise<ScriptResult> {
    const { owner, signal } = script;
    signal.throwIfAborted();
    const order = orderOf(script, this.#options.timeoutMs ?? usualTimeoutMs);
    if (typeof order === "string") return { ok: false, error: order, logs: [] };
    if (this.#isFull(owner)) return { ok: false, error: "Too many scripts at once; try again", logs: [] };
    return new Promise((resolve, reject) => {
      const end = (result: ScriptResult) => {
        signal.removeEventListener("abort", onAbort);
        resolve(result);
      };
      const job: ScriptJob = { order, owner, logs: [], end };
      const onAbort = () => {
        this.#drop(job);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(job);
      this.#startWaiting();
    });
  }

  #isFull(owner: string | undefined): boolean {
    if (this.#waiting.size >= mostWaiting) return true;
    return owner !== undefined && this.#waiting.sizeOf(owner) >= mostWaitingOfOwner;
  }

  #startWaiting(): void {
    for (;;) {
      const free = [...this.#threads].find((thread) => thread.isFree());
      if (!free && this.#threads.size === mostThreads) return;
      const job = this.#waiting.take((owner) => this.#mayRun(owner));
      if (!job) return;
      (free ?? this.#addThread()).begin(job);
    }
  }

  #mayRun(owner: string | undefined): boolean {
    const own = [...this.#threads].filter(({ job }) => job !== undefined && job.owner === owner);
    return own.length < mostThreadsOfOwner;
  }

  #addThread(): ScriptThread {
    const { clock, log } = this.#options;
    const onFree = () => this.#startWaiting();
    const onGone = () => {
      this.#threads.delete(thread);
      this.#startWaiting();
    };
    const thread = startThread({ clock, log, onFree, onGone });
    this.#threads.add(thread);
    return thread;
  }

  #drop(job: ScriptJob): void {
    if (this.#waiting.remove(job)) return;
    for (const thread of this.#threads) if (thread.job === job) thread.end();
  }
}

/** The order for a thread, or why the script can't run. */
function orderOf({ file, content, args, modules = {} }: ScriptRun, timeoutMs: number): ScriptOrder | string {
  const files = new Map(Object.entries(modules)).set(file, content);
  const json = argumentsAsJson(args);
  if (json === null) return "The arguments cannot be turned into JSON: they are nested too deeply";
  const size = [...files.values(), json].reduce((sum, text) => sum + text.length, 0);
  if (size > longestOrder) return "The skill's scripts and the arguments are larger than 8 MiB together";
  return { file, files, args: json, timeoutMs };
}

function argumentsAsJson(args: ScriptRun["args"]): string | null {
  try {
    return JSON.stringify(args);
  } catch {
    return null;
  }
}
