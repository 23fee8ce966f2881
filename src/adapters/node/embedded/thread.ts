import { Duplex } from "node:stream";
import { MessageChannel, Worker } from "node:worker_threads";
import type { Clock, Log } from "../../../core/ports.ts";
import { pause } from "../../../core/time/pause.ts";
import type { Target } from "../../../db/pool/connection.ts";
import { systemClock } from "../clock.ts";
import { workerFile } from "../worker-file.ts";
import type { DataSettings } from "./late-directory.ts";
import type { WorkerOrder, WorkerReport } from "./worker.ts";

export interface EmbeddedDatabase {
  target: Extract<Target, { dial: unknown }>;
  /** Closes the database cleanly; its clients must have disconnected. */
  close(): Promise<void>;
}

const closeWithinMs = 5000;

/** The first and longest pause before a new thread, in milliseconds; none after a thread that ran well. */
const [firstPauseMs, longestPauseMs] = [250, 15_000];

/** A thread that ran this long ran well, in milliseconds. */
const wellMs = 60_000;

/**
 * Runs the database in a thread of its own, because it would block this thread's event loop. When the thread dies, its
 * statements fail and new threads are started until one works, since a disk may be full for hours.
 */
export async function superviseDatabase(
  settings: DataSettings,
  log: Log,
  clock: Clock = systemClock,
): Promise<EmbeddedDatabase> {
  const streams = new Set<Duplex>();
  const closing = new AbortController();
  /** Rejected while no thread runs, so that statements fail at once. */
  let current = startThread(settings);
  let pauseMs = 0;

  const watch = (worker: Worker) => {
    const startedAt = clock.now();
    // A report after the first one says why the thread dies.
    worker.on("message", (report: WorkerReport) => {
      if (!report.ready) log.error({ reason: report.reason }, "The embedded database failed");
    });
    worker.on("error", (err) => log.error({ err }, "The embedded database failed"));
    worker.on("exit", () => {
      if (!closing.signal.aborted) {
        log.warn({}, "The embedded database stopped and is started again");
        if (clock.now() - startedAt >= wellMs) pauseMs = 0;
        // Rejects only when everything ends.
        restart().catch(() => {});
      }
      for (const stream of streams) stream.destroy();
    });
  };
  const restart = async () => {
    // If the directory has lost its database, no empty one is created.
    const existing = { ...settings, existing: settings.directory !== null };
    for (let failed = false; ; ) {
      if (pauseMs > 0) {
        stand(Promise.reject(new Error("The embedded database rests before its next start")));
        await pause(clock, pauseMs, closing.signal);
      }
      pauseMs = Math.min(longestPauseMs, pauseMs === 0 ? firstPauseMs : pauseMs * 2);
      stand(startThread(existing));
      try {
        watch(await current);
        log.info({}, "The embedded database works again");
        return;
      } catch (err) {
        if (!failed) log.error({ err }, "The embedded database does not start: it is tried again until it does");
        failed = true;
      }
    }
  };
  const stand = (thread: Promise<Worker>) => {
    current = thread;
    // There may be nobody who awaits the promise.
    current.catch(() => {});
  };
  watch(await current);

  return {
    target: {
      async dial() {
        const worker = await current.catch((cause: unknown) => {
          throw Object.assign(new Error("The embedded database is gone", { cause }), { code: "CONNECTION_CLOSED" });
        });
        const stream = dial(worker);
        streams.add(stream);
        stream.once("close", () => streams.delete(stream));
        return stream;
      },
    },
    async close() {
      closing.abort();
      await current.then(endThread, () => {});
    },
  };
}

/** Closes the database. A thread that hangs is terminated after 5 s, as if it had crashed. */
async function endThread(worker: Worker): Promise<void> {
  // A thread that has ended already emits no exit event.
  if (worker.threadId === -1) return;
  const timer = setTimeout(() => void worker.terminate(), closeWithinMs);
  await new Promise((resolve) => {
    worker.once("exit", resolve);
    worker.postMessage("close" satisfies WorkerOrder);
  });
  clearTimeout(timer);
}

/** A thread that has loaded PostgreSQL, or is loading it, but has opened no data. */
let spare: Worker | undefined;

/**
 * Starts a thread for the process's next database, since loading PostgreSQL takes most of a start, and other work can
 * be done meanwhile. The thread does not keep the process running.
 */
export function prepareThread(): void {
  spare = newThread();
  // If this thread fails, so does the thread started instead, which reports the error.
  spare.on("error", () => {});
  spare.unref();
}

function newThread(): Worker {
  // With a stack of this size, PostgreSQL's own check ends a recursion long before the stack overflows.
  return new Worker(workerFile("embedded"), { resourceLimits: { stackSizeMb: 256 } });
}

function startThread(settings: DataSettings): Promise<Worker> {
  const worker = spare && spare.threadId !== -1 ? spare : newThread();
  spare = undefined;
  worker.ref();
  worker.postMessage({ open: settings } satisfies WorkerOrder);
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      worker.removeAllListeners();
      if (!error) return resolve(worker);
      // Without a listener, an error would end the server.
      worker.on("error", () => {});
      // The next thread must not open the data while this one runs.
      const ended = () => reject(error);
      worker.terminate().then(ended, ended);
    };
    worker.once("message", (report: WorkerReport) => finish(report.ready ? undefined : new Error(report.reason)));
    worker.once("error", finish);
    worker.once("exit", (code) => finish(new Error(`its thread ended with code ${code}`)));
  });
}

/** A stream to the database in place of a socket: with no path and no port, no other process can reach it. */
function dial(worker: Worker): Duplex {
  const { port1: port, port2: client } = new MessageChannel();
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      // Copied: the chunk is a view of the driver's buffer, all of which would be transferred.
      const bytes = new Uint8Array(chunk);
      port.postMessage(bytes, [bytes.buffer]);
      done();
    },
    final(done) {
      done();
      stream.destroy();
    },
    destroy(error, done) {
      port.close();
      done(error);
    },
  });
  port.on("message", (bytes: Uint8Array) => stream.push(bytes));
  port.on("close", () => stream.destroy());
  worker.postMessage({ client } satisfies WorkerOrder, [client]);
  // The driver reads this property of sockets before it disconnects.
  return Object.assign(stream, { readyState: "open" });
}
