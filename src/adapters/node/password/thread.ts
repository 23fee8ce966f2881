import { Worker } from "node:worker_threads";
import { EngineError } from "../../../core/errors.ts";
import { Tally } from "../../../core/limits/tally.ts";
import type { Clock, Log, Passwords } from "../../../core/ports.ts";
import { workerFile } from "../worker-file.ts";
import type { PasswordAnswer, PasswordCall, PasswordOrder } from "./worker.ts";

/** The most calls at a time, including the running one; together they take some seconds. */
const maxWaiting = 64;
/** The most calls of one client at a time, so that a few clients can't block all others. */
const maxOfClient = 4;
/** How long an idle thread stays, in milliseconds. It uses some 25 MB, while a new one takes a tenth of a second. */
const idleMs = 5000;

/**
 * Hashes in a thread of its own, one password after the other, so that the event loop is not blocked. The thread starts
 * with the first call and ends after five idle seconds. If it dies, waiting calls fail and the next call starts another
 * one. Rejects with 503 when too many calls wait, and with 429 when too many of one client do.
 */
export function threadedPasswords({ clock, log }: { clock: Clock; log: Log }): Passwords {
  let thread: Thread | undefined;
  let cancelIdle = () => {};
  const share = createShares();

  const ask = async (call: PasswordCall): Promise<string | boolean> => {
    if (thread && thread.waiting() >= maxWaiting) throw overloaded();
    cancelIdle();
    const asked =
      thread ??
      startThread(log, () => {
        if (thread === asked) thread = undefined;
      });
    thread = asked;
    try {
      return await asked.ask(call);
    } finally {
      if (thread === asked && asked.waiting() === 0) cancelIdle = clock.after(idleMs, () => asked.end());
    }
  };

  return {
    hash: async (password) => String(await ask({ name: "hash", parameters: [password] })),
    verify: (hash, password, client) =>
      share(client, async () => (await ask({ name: "verify", parameters: [hash, password] })) === true),
    verifyBcrypt: async (hash, text) => (await ask({ name: "verifyBcrypt", parameters: [hash, text] })) === true,
  };
}

/** Limits the calls of each client at the same time; calls without a client are not limited. */
function createShares() {
  const calls = new Tally();
  return async <T>(client: string | undefined, work: () => Promise<T>): Promise<T> => {
    if (client === undefined) return work();
    if (calls.of(client) >= maxOfClient) throw crowding();
    calls.add(client, 1);
    try {
      return await work();
    } finally {
      calls.add(client, -1);
    }
  };
}

interface Thread {
  ask(call: PasswordCall): Promise<string | boolean>;
  waiting(): number;
  end(): void;
}

function startThread(log: Log, onGone: () => void): Thread {
  const worker = new Worker(workerFile("password"));
  const waiting = new Map<number, PromiseWithResolvers<string | boolean>>();
  let calls = 0;
  // The thread alone does not keep the process alive; waiting calls do.
  worker.unref();
  const forget = (id: number) => {
    waiting.delete(id);
    if (waiting.size === 0) worker.unref();
  };
  const failAll = (cause: unknown) => {
    onGone();
    for (const { reject } of waiting.values()) reject(interrupted(cause));
    waiting.clear();
  };
  worker.on("message", (answer: PasswordAnswer) => {
    const asked = waiting.get(answer.id);
    forget(answer.id);
    if ("result" in answer) asked?.resolve(answer.result);
    else asked?.reject(new Error(answer.failure));
  });
  worker.on("error", (err) => {
    log.error({ err }, "The thread that checks passwords failed");
    failAll(err);
  });
  worker.on("exit", (code) => failAll(new Error(`The thread that checks passwords ended with code ${code}`)));

  return {
    ask(call) {
      const asked = Promise.withResolvers<string | boolean>();
      calls += 1;
      waiting.set(calls, asked);
      worker.ref();
      worker.postMessage({ ...call, id: calls } satisfies PasswordOrder);
      return asked.promise;
    },
    waiting: () => waiting.size,
    end() {
      onGone();
      void worker.terminate();
    },
  };
}

const overloaded = () =>
  new EngineError("unavailable", "Too many sign-ins at once; try again", { retryAfterSeconds: 1 });

const crowding = () =>
  new EngineError("rate-limited", "Too many sign-ins at once: try again in 1 second", {
    limit: { limit: maxOfClient, remaining: 0, resetSeconds: 1 },
  });

const interrupted = (cause: unknown) =>
  new EngineError("unavailable", "The password could not be checked; try again", { retryAfterSeconds: 1, cause });
