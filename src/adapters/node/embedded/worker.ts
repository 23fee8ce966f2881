import { type MessagePort, parentPort } from "node:worker_threads";
import type { PGlite } from "@electric-sql/pglite";
import { systemClock } from "../clock.ts";
import { type Exchange, withCheckpoints } from "./checkpoints.ts";
import type { DataSettings } from "./late-directory.ts";
import { simpleQuery, sync } from "./messages.ts";
import { openPostgres } from "./postgres.ts";

/** A report of the thread: it accepts clients, or why it can't or no longer can, as one line. */
export type WorkerReport = { ready: true } | { ready: false; reason: string };

/** An order to the thread: open this data, serve the client at this port, or close the database. */
export type WorkerOrder = { open: DataSettings } | { client: MessagePort } | "close";

/** WebAssembly's system code for a full disk. */
const noSpace = 51;

/** Undoes what a client changed in the database's only session. */
const freshSession = Buffer.concat([sync, simpleQuery("rollback"), simpleQuery("discard all")]);

const waiting: MessagePort[] = [];
let serving: MessagePort | undefined;

const settings = Promise.withResolvers<DataSettings>();
parentPort?.once("message", (order: WorkerOrder) => {
  if (order !== "close" && "open" in order) settings.resolve(order.open);
});

try {
  const database = await openPostgres(settings.promise);
  endOnTrap(database);
  const exchange = withCheckpoints((messages) => exchangeRaw(database, messages), systemClock);
  parentPort?.on("message", (order: WorkerOrder) => {
    if (order === "close") void database.close().finally(() => process.exit(0));
    else if ("client" in order) addClient(order.client, exchange);
  });
  report({ ready: true });
} catch (error) {
  // If the program fails to load, that is reported only after the order, as an answer to it.
  await settings.promise;
  report({ ready: false, reason: describe(error) });
}

/**
 * Ends the thread after a WebAssembly trap, so that a new thread is started. PGlite takes every exception for one of
 * PostgreSQL's own jumps and goes on; after a real trap, such as a stack overflow, it returns no rows or hangs.
 */
function endOnTrap(database: PGlite): void {
  const { mod, POSTGRES_MAIN_LONGJMP: jump } = database as unknown as {
    mod: { _PostgresMainLoopOnce(): void };
    POSTGRES_MAIN_LONGJMP: number;
  };
  const loopOnce = mod._PostgresMainLoopOnce;
  mod._PostgresMainLoopOnce = () => {
    try {
      loopOnce();
    } catch (error) {
      if ((error as { status?: unknown }).status === jump) throw error;
      report({ ready: false, reason: describe(error) });
      process.exit(1);
    }
  };
}

/**
 * Serves clients one after the other, each in a fresh session: there is only one session, in which messages of two
 * clients would mix their statements. Each message from a client contains whole messages of PostgreSQL's protocol.
 */
function addClient(client: MessagePort, exchange: Exchange): void {
  waiting.push(client);
  client.on("close", () => {
    if (client === serving) {
      exchange(freshSession);
      serving = undefined;
      serveNext(exchange);
    } else {
      waiting.splice(waiting.indexOf(client), 1);
    }
  });
  serveNext(exchange);
}

function serveNext(exchange: Exchange): void {
  if (serving) return;
  const client = waiting.shift();
  serving = client;
  client?.on("message", (bytes: Uint8Array) => {
    const answer = exchange(bytes);
    if (answer.length > 0) client.postMessage(answer, [answer.buffer]);
  });
}

/**
 * Sends messages and collects the answer, which is complete when the call returns. The shorter `execProtocolRawSync`
 * would also parse every answer and never free it.
 */
function exchangeRaw(database: PGlite, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  void database.execProtocolRawStream(bytes, { syncToFs: false, onRawData: (data) => chunks.push(data.slice()) });
  return new Uint8Array(Buffer.concat(chunks));
}

function report(message: WorkerReport): void {
  parentPort?.postMessage(message);
}

function describe(error: unknown): string {
  if ((error as { errno?: unknown } | null)?.errno === noSpace) return "ENOSPC: no space left on device";
  if (error instanceof Error && error.message !== "[object Object]") return error.message;
  return typeof error === "object" && error !== null ? JSON.stringify(error) : String(error);
}
