import { Semaphore } from "../../../core/limits/semaphore.ts";
import type { Clock } from "../../../core/ports.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { isRetryable } from "../../../turn/failure.ts";
import type { TurnOutcome } from "../../../turn/types.ts";

/** The first limit of simultaneous calls of a model, and the greatest, which bounds their memory. */
const [firstCalls, mostCalls] = [4, 128];

/**
 * While the event loop is later than this, in milliseconds, the limit falls, down to this minimum: turns come first.
 */
const [lateMs, leastWhileLate] = [5, 8];

/** The attempts of a model call that the model refuses for overload. */
const usualAttempts = 3;

/** The longest rest and the longest wait, in milliseconds. After the wait the job is deferred, and frees its slot. */
const [longestRestMs, longestWaitMs] = [10_000, 30_000];

interface Call {
  owner: string;
  signal: AbortSignal;
  /** 3 when absent. */
  attempts?: number;
  ask: () => Promise<TurnOutcome>;
}

/**
 * Limits the background's simultaneous calls of one model with one key: raises the limit while they succeed, halves it
 * when the provider pushes back (429, 5xx or no response in time), and stops calls until its `Retry-After` is over.
 */
export class ModelLimit {
  readonly #clock: Clock;
  readonly #onRest: (restMs: number) => void;
  readonly #loopDelay: () => number;
  readonly #slots = new Semaphore({ most: () => (this.#restMs() > 0 ? 0 : Math.floor(this.#limit)) });
  #limit = firstCalls;
  /** How often it was lowered: before, each call raises the limit by one, and afterwards each round of calls does. */
  #lowered = 0;
  #restsFrom = Number.POSITIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, onRest: (restMs: number) => void, delay: () => number) {
    this.#clock = clock;
    this.#loopDelay = delay;
    this.#onRest = onRest;
  }

  /** Whether it equals a new one. */
  get isIdle(): boolean {
    return this.#slots.taken === 0 && this.#slots.waiting === 0 && this.#restMs() === 0;
  }

  /**
   * Makes a call when its turn comes, and repeats it when the provider pushes back. Returns the last outcome; throws
   * `Postponed` when the provider requests a longer pause.
   */
  async call({ owner, signal, attempts = usualAttempts, ask }: Call): Promise<TurnOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      if (this.#restMs() > longestRestMs) throw this.#postponed();
      const release = await this.#enter(owner, signal);
      try {
        const lowered = this.#lowered;
        const outcome = await ask();
        const restMs = wantedRest(outcome, attempt);
        if (restMs === null) {
          if (outcome.status === "done") this.#raise();
          return outcome;
        }
        // Calls that began before the limit was lowered say nothing about the lower one.
        if (lowered === this.#lowered) this.#lower(restMs);
        this.#rest(restMs);
        const again = attempt < attempts && restMs <= longestRestMs;
        if (!again && isThrottled(outcome)) throw this.#postponed();
        if (!again) return outcome;
      } finally {
        release();
      }
    }
  }

  #raise(): void {
    if (this.#loopDelay() > lateMs) {
      if (this.#limit > leastWhileLate) this.#limit = Math.max(leastWhileLate, this.#limit - 0.5);
      return;
    }
    // An unused limit says nothing.
    if (this.#slots.taken < Math.floor(this.#limit)) return;
    this.#limit = Math.min(mostCalls, this.#limit + (this.#lowered > 0 ? 1 / this.#limit : 1));
  }

  #lower(restMs: number): void {
    this.#limit = Math.max(1, this.#limit / 2);
    this.#lowered += 1;
    this.#onRest(restMs);
  }

  #rest(restMs: number): void {
    if (restMs <= this.#restMs()) return;
    this.#restsFrom = this.#clock.now();
    this.#restsUntil = this.#restsFrom + restMs;
    if (restMs > longestRestMs) this.#slots.rejectWaiting(this.#postponed());
    this.#clock.after(restMs, () => this.#slots.admit());
  }

  #restMs(): number {
    const now = this.#clock.now();
    // After the clock was set back the rest is unknown: a provider that still needs it will say so.
    return now < this.#restsFrom ? 0 : Math.max(0, this.#restsUntil - now);
  }

  #postponed(): Postponed {
    return new Postponed("Model provider is rate limited", this.#restsUntil);
  }

  /** Takes a slot; the returned function releases it. Throws `Postponed` when the wait takes too long. */
  async #enter(owner: string, signal: AbortSignal): Promise<() => void> {
    const late = new AbortController();
    const cancel = this.#clock.after(longestWaitMs, () =>
      late.abort(new Postponed("The model had no time for this call yet", this.#clock.now())),
    );
    return this.#slots.enter(owner, AbortSignal.any([signal, late.signal])).finally(cancel);
  }
}

const isThrottled = (outcome: TurnOutcome) => outcome.status === "failed" && outcome.failure.code === "rate-limited";

/** The pause that the provider needs, in milliseconds; null when it did not push back. */
function wantedRest(outcome: TurnOutcome, attempt: number): number | null {
  if (outcome.status !== "failed") return null;
  const { code, cause, retryAfterSeconds } = outcome.failure;
  const shortMs = 500 * 2 ** (attempt - 1);
  if (code === "rate-limited") return retryAfterSeconds === undefined ? shortMs : retryAfterSeconds * 1000;
  return code === "provider-timeout" || isRetryable(cause) ? shortMs : null;
}
