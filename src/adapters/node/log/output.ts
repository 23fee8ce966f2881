import pino from "pino";

export interface Output {
  write(line: string): void;
}

/** The most bytes that wait in memory for a reader that has stopped reading. */
const mostWaiting = 4 * 1024 * 1024;

/**
 * In milliseconds: the pause before another try with a full pipe, and how long an ending process waits for its reader.
 */
const [againMs, lastMs] = [10, 2_000];

/**
 * Standard error. A line is passed to the system before `write` returns, so that a dying process loses none. When the
 * reader is slow or has stopped, lines wait in memory, since a full pipe would block the whole server. Lines beyond
 * `mostWaiting` are dropped, and `onDropped` gets their number once there is room.
 */
export function openOutput(onDropped: (lines: number) => void): Output {
  // Node's own stream, once created, makes the system refuse data for a full pipe instead of blocking.
  void process.stderr;
  const out = pino.destination({ dest: 2, sync: true, maxLength: mostWaiting, retryEAGAIN: () => false });
  /** Why the last write failed; null when it did not. */
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
  // For other errors, the reader has left or the disk is full, and no log line could report that.
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
