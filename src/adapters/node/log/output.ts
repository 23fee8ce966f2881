import pino from "pino";

export interface Output {
  write(line: string): void;
}

/** How much waits for a reader that stands still, in bytes. */
const mostWaiting = 4 * 1024 * 1024;

/** How soon a full pipe is tried again, and how long a process that ends waits for its reader, in milliseconds. */
const [againMs, lastMs] = [10, 2_000];

/**
 * Standard error. A line is handed over before `write` returns, so that a dying process loses none. Where the reader is
 * slow or stands still, lines wait in memory, since a full pipe would hold up the whole server; lines beyond `mostWaiting`
 * are dropped, and `onDropped` is told how many once there is room.
 */
export function openOutput(onDropped: (lines: number) => void): Output {
  // Node's own stream has the system refuse what does not fit into a pipe, in place of waiting until it does.
  void process.stderr;
  let isLast = () => false;
  const out = pino.destination({ dest: 2, sync: true, maxLength: mostWaiting, retryEAGAIN: () => isLast() });
  let dropped = 0;
  let again: NodeJS.Timeout | null = null;
  const tryAgain = () => {
    again = null;
    out.write("");
    if (again !== null || dropped === 0) return;
    const lines = dropped;
    dropped = 0;
    onDropped(lines);
  };
  out.on("drop", () => {
    dropped += 1;
  });
  out.on("error", ({ code }: NodeJS.ErrnoException) => {
    // Otherwise the reader is gone, or the disk is full: there is nowhere to say so.
    if (code === "EAGAIN") again ??= setTimeout(tryAgain, againMs).unref();
  });
  process.once("exit", () => {
    const until = Date.now() + lastMs;
    isLast = () => Date.now() < until;
    try {
      out.flushSync();
    } catch {
      // The reader still stands still, or is gone.
    }
  });
  return out;
}
