import { Semaphore } from "../../../core/limits/semaphore.ts";
import type { NamedModel } from "../../../core/models/fallbacks.ts";
import type { Clock } from "../../../core/ports.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { isRetryable } from "../../../turn/failure.ts";
import { isSameModel } from "../../../turn/models.ts";
import type { TurnOutcome } from "../../../turn/types.ts";

/** The first and the greatest limit of a model's calls at a time. The greatest one bounds their memory. */
const [firstCalls, mostCalls] = [4, 128];

/** While the event loop is later than this, in milliseconds, the limit falls, down to this number: turns come first. */
const [lateMs, leastWhileLate] = [5, 8];

/** The attempts of a model call that the model refuses for overload. */
const usualAttempts = 3;

/** The longest pause of a model, and the longest wait for a slot before the job is deferred, in milliseconds. */
const [longestRestMs, longestWaitMs] = [10_000, 30_000];

interface Call {
  owner: string;
  signal: AbortSignal;
  /** 3 when absent. */
  attempts?: number;
  ask: () => Promise<TurnOutcome>;
  /** The limited model; absent when no other may answer. */
  model?: NamedModel;
}

/**
 * Limits the background's calls at a time to one model with one key. Raises the limit while calls succeed, halves it
 * when the provider pushes back (429, 5xx or no response in time), and pauses calls as long as its `Retry-After` says.
 */
export class ModelLimit {
  readonly #clock: Clock;
  readonly #onRest: (restMs: number) => void;
  readonly #loopDelay: () => number;
  readonly #slots = new Semaphore({ most: () => (this.#restMs() > 0 ? 0 : Math.floor(this.#limit)) });
  #limit = firstCalls;
  /** How often the limit was lowered. Until it is 1, each success raises the limit by one; then each round of calls. */
  #lowered = 0;
  #restsFrom = Number.POSITIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, onRest: (restMs: number) => void, delay: () => number) {
    this.#clock = clock;
    this.#loopDelay = delay;
    this.#onRest = onRest;
  }

  /** Whether this limit is in the state of a new one. */
  get isIdle(): boolean {
    return this.#slots.taken === 0 && this.#slots.waiting === 0 && this.#restMs() === 0;
  }

  /**
   * Makes a call when its turn comes, and retries it when the provider pushes back. Returns the last outcome; throws
   * `Postponed` when the provider requests a longer pause.
   */
  async call({ owner, signal, attempts = usualAttempts, ask, model }: Call): Promise<TurnOutcome> {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      if (this.#restMs() > longestRestMs) throw this.#postponed();
      const release = await this.#enter(owner, signal);
      try {
        const lowered = this.#lowered;
        const outcome = await ask();
        const restMs = wantedRest(outcome, attempt);
        if (restMs === null) {
          const fellBack = model && outcome.answered.some((step) => !isSameModel(step.model, model));
          if (fellBack && lowered === this.#lowered) this.#lower(0);
          else if (!fellBack && outcome.status === "done") this.#raise();
          return outcome;
        }
        // Only calls that began after the limit was last lowered can lower it again.
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
    // A limit that was not reached proves nothing about a higher one.
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
    // After the clock was set back, the rest of the pause is unknown. A provider that still needs it pushes back again.
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
