import type { Clock, Log, ScriptRun, Scripts } from "../../../core/ports.ts";
import type { ScriptOrder } from "./order.ts";
import { type ScriptJob, type ScriptThread, startThread } from "./thread.ts";

interface Options {
  clock: Clock;
  log: Log;
  /** How long a script may take, from its own start. */
  timeoutMs?: number;
}

const mostThreads = 2;
const mostWaiting = 32;
const mostWaitingOfOwner = 8;
const longestOrder = 8 * 1024 * 1024;

/**
 * Runs scripts in at most two threads, each in an interpreter of its own, so that neither the event loop nor another
 * script waits for one that does not end. At most 32 wait for a thread, 8 of one owner; the next one is refused.
 */
export function threadedScripts({ clock, log, timeoutMs = 5_000 }: Options): Scripts {
  const threads = new Set<ScriptThread>();
  const waiting: ScriptJob[] = [];

  const freeThread = () => {
    const free = [...threads].find((thread) => thread.isFree());
    if (free || threads.size === mostThreads) return free;
    const onGone = () => {
      threads.delete(thread);
      advance();
    };
    const thread = startThread({ clock, log, onFree: advance, onGone });
    threads.add(thread);
    return thread;
  };
  const advance = () => {
    while (waiting.length > 0) {
      const thread = freeThread();
      const job = thread && waiting.shift();
      if (!job) return;
      thread.begin(job);
    }
  };
  const isFull = (owner: string | undefined) =>
    waiting.length >= mostWaiting ||
    (owner !== undefined && waiting.filter((job) => job.owner === owner).length >= mostWaitingOfOwner);
  const drop = (job: ScriptJob) => {
    const place = waiting.indexOf(job);
    if (place >= 0) waiting.splice(place, 1);
    else for (const thread of threads) if (thread.isAt(job)) thread.end();
  };

  return {
    async run(script) {
      script.signal.throwIfAborted();
      const order = orderOf(script, timeoutMs);
      if (typeof order === "string") return { ok: false, error: order, logs: [] };
      if (isFull(script.owner)) return { ok: false, error: "Too many scripts at once; try again", logs: [] };
      return new Promise((resolve, reject) => {
        const settled = () => script.signal.removeEventListener("abort", onAbort);
        const job: ScriptJob = {
          order,
          owner: script.owner,
          logs: [],
          settle(result) {
            settled();
            resolve(result);
          },
        };
        const onAbort = () => {
          settled();
          drop(job);
          reject(script.signal.reason);
        };
        script.signal.addEventListener("abort", onAbort);
        waiting.push(job);
        advance();
      });
    },
  };
}

/** Or why there can be none. */
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
