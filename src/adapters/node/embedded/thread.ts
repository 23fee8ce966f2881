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
 * The database in a thread of its own, because it would block this one's event loop. A thread that dies fails the
 * statements it had and is started again; the next ones wait for it.
 */
export async function keepThread(settings: WorkerSettings, log: Log): Promise<Embedded> {
  const streams = new Set<Duplex>();
  let closing = false;
  let current = startThread(settings);

  const watch = (worker: Worker) => {
    // A report after the first one says why it dies.
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

/** Closes the database; a thread that hangs is ended as a crash would end it. */
async function endThread(worker: Worker): Promise<void> {
  // One that is gone already has no exit to wait for.
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
    // Then PostgreSQL's own check ends a recursion that goes too deep, long before this stack does.
    resourceLimits: { stackSizeMb: 256 },
  });
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      worker.removeAllListeners();
      if (!error) return resolve(worker);
      void worker.terminate();
      reject(error);
    };
    worker.once("message", (report: WorkerReport) => settle(report.ready ? undefined : new Error(report.reason)));
    worker.once("error", settle);
    worker.once("exit", (code) => settle(new Error(`its thread ended with code ${code}`)));
  });
}

/** A stream to the database, in place of a socket: no path, no port, and nobody else can reach it. */
function dial(worker: Worker): Duplex {
  const { port1: port, port2: client } = new MessageChannel();
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      // The chunk is a piece of the driver's buffer, all of which would travel.
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
  // What the driver asks a socket before it says goodbye.
  return Object.assign(stream, { readyState: "open" });
}
