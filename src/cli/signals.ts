import type { Log } from "../core/ports.ts";

/** npm passes Ctrl+C on to a process that had it from the terminal already: an echo within this time is no second wish. */
const echoMs = 500;

/** How soon it is noticed that npm is gone. */
const lookMs = 500;

/** Beyond the grace of the turns: for closing connections and the database. */
const patienceMs = 10_000;

interface StopOptions {
  stop: () => Promise<void>;
  graceMs: number;
  log: Log;
  /** Started by npm or npx. */
  byNpm: boolean;
}

/**
 * SIGTERM and SIGINT stop gracefully and end the process with 0; a second one, or a stop that hangs, ends it at once
 * with 1. An exception that nobody caught ends it too; a rejection that nobody awaited is only logged.
 */
export function stopOnSignals({ stop, graceMs, log, byNpm }: StopOptions): void {
  let since: number | undefined;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (since !== undefined) {
      if (performance.now() - since < echoMs) return;
      log.warn({ signal }, "Stopping at once: a second signal came");
      process.exit(1);
    }
    since = performance.now();
    setTimeout(() => {
      log.error({}, "Stopping at once: the graceful stop did not end");
      process.exit(1);
    }, graceMs + patienceMs).unref();
    try {
      await stop();
      process.exit(0);
    } catch (err) {
      log.error({ err }, "The stop failed");
      process.exit(1);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  if (byNpm) {
    onceOrphaned(() => {
      // After Ctrl+C both are told to end.
      if (since === undefined) void onSignal("SIGTERM");
    });
  }
  process.on("uncaughtException", (err) => {
    log.error({ err }, "Stopping at once: uncaught exception");
    process.exit(1);
  });
  process.on("unhandledRejection", (err) => log.error({ err }, "Unhandled rejection"));
}

/** npm passes SIGTERM on only to the shell between it and this process; that shell dies of it without a word. */
function onceOrphaned(act: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, lookMs);
  timer.unref();
}
