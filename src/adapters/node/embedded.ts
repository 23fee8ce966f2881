import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { MessageChannel, Worker } from "node:worker_threads";
import { StartError } from "../../core/errors.ts";
import type { Log } from "../../core/ports.ts";
import type { Target } from "../../db/connection.ts";
import { lockDirectory } from "./directory-lock.ts";
import type { WorkerOrder, WorkerReport, WorkerSettings } from "./embedded-worker.ts";

export interface Embedded {
  target: Target;
  /** Closes the database in order; its clients must be gone. */
  close(): Promise<void>;
}

/**
 * Opens the embedded database in `directory` (made by the caller), or makes it there. A second process on the same
 * directory gets a `StartError` at once. What was acknowledged survives the process, however it ends; it is not
 * promised to survive a loss of power.
 */
export async function openEmbedded(directory: string, log: Log, template = shippedTemplate()): Promise<Embedded> {
  const unlock = await lockDirectory(directory);
  try {
    const data = join(directory, "pgdata");
    // While it stands there, nobody has used the database yet: what lies in its place is a start that was cut off.
    const unfinished = join(directory, "pgdata.unfinished");
    if (existsSync(unfinished)) rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { recursive: true, mode: 0o700 });
    const files = readdirSync(data);
    if (files.length === 0) writeFileSync(unfinished, "");
    else if (!files.includes("PG_VERSION")) throw damaged(data, "PG_VERSION is missing");
    const thread = await keepThread({ directory: data, template }, log).catch((error: Error) => {
      throw damaged(data, error.message);
    });
    rmSync(unfinished, { force: true });
    const close = async () => {
      await thread.close();
      unlock();
    };
    return { target: thread.target, close };
  } catch (error) {
    unlock();
    throw error;
  }
}

function damaged(data: string, reason: string): StartError {
  return new StartError(
    `The embedded database in ${data} does not open (${reason}): restore it from a backup, or move it away to start with an empty one`,
  );
}

const closeWithinMs = 5000;

/** Beside the bundled program; a checkout that runs from its sources has none. */
function shippedTemplate(): string | null {
  const file = fileURLToPath(new URL("./template.tar.gz", import.meta.url));
  return existsSync(file) ? file : null;
}

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
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./embedded-worker.${extension}`, import.meta.url), {
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
