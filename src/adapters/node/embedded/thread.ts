import { Duplex } from "node:stream";
import { MessageChannel, Worker } from "node:worker_threads";
import type { Log } from "../../../core/ports.ts";
import type { Target } from "../../../db/connection.ts";
import { workerFile } from "../worker-file.ts";
import type { WorkerOrder, WorkerReport, WorkerSettings } from "./worker.ts";

export interface Embedded {
  target: Target;
  /** Closes the database in order; its clients must be gone. */
  close(): Promise<void>;
}

const closeWithinMs = 5000;

/**
 * Runs the database in a thread of its own, because it would block the event loop of this one. When the thread dies,
 * its statements fail and a new thread is started, for which later statements wait.
 */
export async function superviseDatabase(settings: WorkerSettings, log: Log): Promise<Embedded> {
  const streams = new Set<Duplex>();
  let closing = false;
  let current = startThread(settings);

  const watch = (worker: Worker) => {
    // A report after the first one says why the thread dies.
    worker.on("message", (report: WorkerReport) => {
      if (!report.ready) log.error({ reason: report.reason }, "The embedded database failed");
    });
    worker.on("error", (err) => log.error({ err }, "The embedded database failed"));
    worker.on("exit", () => {
      if (!closing) restart();
      for (const stream of streams) stream.destroy();
    });
  };
  const restart = () => {
    log.warn({}, "The embedded database stopped and is started again");
    current = startThread(settings);
    current.then(watch, (err: unknown) => {
      log.error({ err }, "The embedded database does not start again: restart the server");
    });
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
      closing = true;
      await current.then(endThread, () => {});
    },
  };
}

/** Closes the database. A thread that hangs is terminated after 5 s, as if it had crashed. */
async function endThread(worker: Worker): Promise<void> {
  // A thread that has ended already emits no exit.
  if (worker.threadId === -1) return;
  const timer = setTimeout(() => void worker.terminate(), closeWithinMs);
  await new Promise((resolve) => {
    worker.once("exit", resolve);
    worker.postMessage("close" satisfies WorkerOrder);
  });
  clearTimeout(timer);
}

function startThread(settings: WorkerSettings): Promise<Worker> {
  const worker = new Worker(workerFile("embedded"), {
    workerData: settings,
    // With this much stack, PostgreSQL's own check ends a recursion long before the stack overflows.
    resourceLimits: { stackSizeMb: 256 },
  });
  return new Promise((resolve, reject) => {
    const finish = (error?: Error) => {
      worker.removeAllListeners();
      if (!error) return resolve(worker);
      void worker.terminate();
      reject(error);
    };
    worker.once("message", (report: WorkerReport) => finish(report.ready ? undefined : new Error(report.reason)));
    worker.once("error", finish);
    worker.once("exit", (code) => finish(new Error(`its thread ended with code ${code}`)));
  });
}

/** A stream to the database in place of a socket. It has neither path nor port, so no other process can reach it. */
function dial(worker: Worker): Duplex {
  const { port1: port, port2: client } = new MessageChannel();
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      // A copy: the chunk is a view of the driver's buffer, and the whole buffer would be transferred.
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
  // The driver reads this property of a socket before it says goodbye.
  return Object.assign(stream, { readyState: "open" });
}
