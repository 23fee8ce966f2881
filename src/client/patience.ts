import { AgentEngineError } from "./errors.ts";

/** Between two tries, in milliseconds; half of it is chance, so that not all clients come back at once. */
const shortest = 400;
const longest = 5_000;

/** For how long nothing may come on a connection: the server says something every 25 seconds. */
const silenceMs = 40_000;

/** How often, and for how long, a connection is tried again. */
export class Patience {
  readonly #limitMs: number;
  #tries = 0;
  /** For how long there was no connection, less the time for which those since lasted. */
  #lostMs = 0;
  #connected = true;
  /** Since when there is a connection, or none. */
  #since = performance.now();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** The server is there; a connection that it cuts at once makes up for nothing. */
  heard(): void {
    if (!this.#connected) this.#turn(true);
  }

  /** And it went on. */
  progressed(): void {
    this.#tries = 0;
    this.restart();
  }

  /** It will go on, however long that takes: the time begins anew. */
  restart(): void {
    this.#lostMs = 0;
    this.#connected = true;
  }

  /** Waits before another try. Answers false when it has been tried for long enough; rejects with the signal's reason. */
  async pause(error: unknown, signal: AbortSignal | undefined): Promise<boolean> {
    const asked = error instanceof AgentEngineError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    const delay = Math.min(longest, shortest * 2 ** this.#tries) * (0.5 + Math.random() / 2);
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

/** The same bytes; `onSilence` is called when nothing comes though somebody reads, `onHeard` when something does. */
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

/** What the work resolves to; `onSilence` is called when that takes too long. */
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
