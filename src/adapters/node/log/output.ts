import pino from "pino";

export interface Output {
  write(line: string): void;
}

/** How many bytes are buffered for a reader that has stopped reading. */
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
  const out = pino.destination({ dest: 2, sync: true, maxLength: mostWaiting, retryEAGAIN: () => false });
  /** Why the last attempt to write failed, or null. */
  let refusal: string | undefined | null = null;
  let isTimed = false;
  let dropped = 0;

  const tryAgain = () => {
    refusal = null;
    out.write("");
  };
  const tryInTime = () => {
    isTimed = false;
    tryAgain();
    if (refusal !== null || dropped === 0) return;
    onDropped(dropped);
    dropped = 0;
  };
  out.on("drop", () => {
    dropped += 1;
  });
  // Otherwise the reader is gone, or the disk is full: there is nowhere to say so.
  out.on("error", ({ code }: NodeJS.ErrnoException) => {
    refusal = code;
    if (code !== "EAGAIN" || isTimed) return;
    isTimed = true;
    setTimeout(tryInTime, againMs).unref();
  });
  process.once("exit", () => {
    const until = Date.now() + lastMs;
    for (tryAgain(); refusal === "EAGAIN" && Date.now() < until; tryAgain()) sleepSync(againMs);
  });
  return {
    write(line) {
      if (refusal !== "EPIPE") out.write(line);
    },
  };
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
