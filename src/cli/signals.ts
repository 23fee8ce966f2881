import type { Log } from "../core/ports.ts";

/** In milliseconds. npm forwards a Ctrl+C that the terminal has already sent: so soon, it is no second Ctrl+C. */
const echoMs = 500;

/** The time between two checks whether npm still runs, in milliseconds. */
const lookMs = 500;

/** How long connections and the database may take to close after the drain and the grace of the turns, in milliseconds. */
const patienceMs = 10_000;

interface StopOptions {
  stop: () => Promise<void>;
  /** How long a stop may wait for clients and turns. */
  longestMs: number;
  log: Log;
  /** Whether npm or npx started this process. */
  byNpm: boolean;
}

/**
 * Makes SIGTERM, SIGINT and SIGHUP (a closed terminal) stop the server gracefully and end the process with 0. A second
 * signal, a stop that hangs, or an uncaught exception ends the process at once with 1. An unhandled rejection is only
 * logged.
 */
export function stopOnSignals({ stop, longestMs, log, byNpm }: StopOptions): void {
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
    }, longestMs + patienceMs).unref();
    try {
      await stop();
      process.exit(0);
    } catch (err) {
      log.error({ err }, "The stop failed");
      process.exit(1);
    }
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, onSignal);
  if (byNpm) {
    onceOrphaned(() => {
      // After Ctrl+C this process gets its own signal.
      if (since === undefined) void onSignal("SIGTERM");
    });
  }
  process.on("uncaughtException", (err) => {
    log.error({ err }, "Stopping at once: uncaught exception");
    process.exit(1);
  });
  process.on("unhandledRejection", (err) => log.error({ err }, "Unhandled rejection"));
}

/** Calls `act` when the parent process has ended: npm sends SIGTERM only to a shell, which ends without forwarding it. */
function onceOrphaned(act: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, lookMs);
  timer.unref();
}
