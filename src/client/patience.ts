import { AgentEngineError } from "./errors.ts";

/** The first pause between attempts, in milliseconds; half of it is random, lest all clients return at once. */
const shortestMs = 400;
const longestMs = 5_000;

/** In milliseconds. A connection silent for this long counts as broken: the server sends something every 25 s. */
const silenceMs = 40_000;

/** Decides how often, and for how long, a connection is retried. */
export class Patience {
  readonly #limitMs: number;
  #tries = 0;
  /** The time without a connection, less the time that connections have lasted since. */
  #lostMs = 0;
  #connected = true;
  /** When `#connected` was last changed. */
  #since = performance.now();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Call it when data arrives. From then on, the time with a connection makes up for the time without one. */
  heard(): void {
    if (!this.#connected) this.#turn(true);
  }

  /** Call it when the turn made progress: resets the attempts and the time. */
  progressed(): void {
    this.#tries = 0;
    this.restart();
  }

  /** Call it when the turn is known to go on, perhaps for long: resets the time. */
  restart(): void {
    this.#lostMs = 0;
    this.#connected = true;
  }

  /** Waits before another attempt. Returns false when no time is left; rejects with the signal's reason. */
  async pause(error: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    const asked = error instanceof AgentEngineError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const delay = Math.min(longestMs, shortestMs * 2 ** this.#tries) * (0.5 + Math.random() / 2);
    const wait = Math.max(delay, asked);
    this.#tries += 1;
    if (this.#connected) this.#turn(false);
    if (this.#lostMs + performance.now() - this.#since + wait > this.#limitMs) return false;
    await sleep(wait, signal);
    return true;
  }

  #turn(connected: boolean): void {
    const lasted = performance.now() - this.#since;
    this.#lostMs = Math.max(0, this.#lostMs + (connected ? lasted : -lasted));
    this.#connected = connected;
    this.#since += lasted;
  }
}

/** Passes the bytes on. Calls `onHeard` for each chunk, and `onSilence` when a read takes longer than `silenceMs`. */
export function watched(
  body: ReadableStream<Uint8Array>,
  { onHeard, onSilence }: { onHeard: () => void; onSilence: () => void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await unlessSilent(reader.read(), onSilence);
        if (done) return controller.close();
        onHeard();
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Resolves as `work` does. Calls `onSilence` when that takes longer than `silenceMs`. */
export async function unlessSilent<T>(work: Promise<T>, onSilence: () => void): Promise<T> {
  const timer = setTimeout(onSilence, silenceMs);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
