import { Semaphore } from "../../../core/limits/semaphore.ts";
import type { Clock } from "../../../core/ports.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { isRetryable } from "../../../turn/failure.ts";
import type { TurnOutcome } from "../../../turn/types.ts";

/** The calls at a time that a model is asked at first, and the most, which bounds what they take of the memory. */
const [firstCalls, mostCalls] = [4, 128];

/** While the event loop is later than this, in milliseconds, the limit falls, down to this least: turns come first. */
const [lateMs, leastWhileLate] = [5, 8];

/** The attempts of one model call that the model refuses for overload. */
const usualAttempts = 3;

/** The longest rest and the longest wait, in milliseconds. After the wait the job is deferred, and frees its slot. */
const [longestRestMs, longestWaitMs] = [10_000, 30_000];

interface Call {
  owner: string;
  signal: AbortSignal;
  /** Absent: 3. */
  attempts?: number;
  ask: () => Promise<TurnOutcome>;
}

/**
 * How many calls at a time the background makes of one model with one key: more while they go well, half as many when the
 * provider pushes back (429, 5xx or no answer in time), and none until its `Retry-After` is over.
 */
export class ModelLimit {
  readonly #clock: Clock;
  readonly #onRest: (restMs: number) => void;
  readonly #loopDelay: () => number;
  readonly #slots = new Semaphore({ most: () => (this.#restMs() > 0 ? 0 : Math.floor(this.#limit)) });
  #limit = firstCalls;
  /** How often it was lowered: until then each call raises the limit by one, and from then on each round of calls. */
  #lowered = 0;
  #restsFrom = Number.POSITIVE_INFINITY;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, onRest: (restMs: number) => void, delay: () => number) {
    this.#clock = clock;
    this.#loopDelay = delay;
    this.#onRest = onRest;
  }

  /** Whether it holds nothing that a new one would not. */
  get isIdle(): boolean {
    return this.#slots.taken === 0 && this.#slots.waiting === 0 && this.#restMs() === 0;
  }

  /**
   * Makes a call when its turn comes, and again where the provider pushes back. Answers how the last one ended; throws
   * `Postponed` when the provider wants none for longer.
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
    // A limit that is not used up says nothing.
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
    // Where the clock was set back meanwhile, nobody knows what is left: a provider that still wants rest says so.
    return now < this.#restsFrom ? 0 : Math.max(0, this.#restsUntil - now);
  }

  #postponed(): Postponed {
    return new Postponed("Model provider is rate limited", this.#restsUntil);
  }

  /** Takes a slot; the returned function gives it back. Throws `Postponed` when the wait takes too long. */
  async #enter(owner: string, signal: AbortSignal): Promise<() => void> {
    const late = new AbortController();
    const cancel = this.#clock.after(longestWaitMs, () =>
      late.abort(new Postponed("The model had no time for this call yet", this.#clock.now())),
    );
    return this.#slots.enter(owner, AbortSignal.any([signal, late.signal])).finally(cancel);
  }
}

const isThrottled = (outcome: TurnOutcome) => outcome.status === "failed" && outcome.failure.code === "rate-limited";

/** How long the provider wants to be left alone, in milliseconds; null when it did not push back. */
function wantedRest(outcome: TurnOutcome, attempt: number): number | null {
  if (outcome.status !== "failed") return null;
  const { code, cause, retryAfterSeconds } = outcome.failure;
  const shortMs = 500 * 2 ** (attempt - 1);
  if (code === "rate-limited") return retryAfterSeconds === undefined ? shortMs : retryAfterSeconds * 1000;
  return code === "provider-timeout" || isRetryable(cause) ? shortMs : null;
}
