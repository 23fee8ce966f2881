import { EngineError } from "../errors.ts";
import type { Clock, Log } from "../ports.ts";
import { AdaptiveLimit, leastSlots } from "./adaptive-limit.ts";
import { loopDelay } from "./loop-delay.ts";
import { type Share, ShareQueue, type Waiter } from "./share-queue.ts";

export type { Share } from "./share-queue.ts";

/** New work is refused at once when the slots can't serve all waiting work within this time, in milliseconds. */
const waitMs = 250;

/** The amount of work that may always wait: for so little, arrivals are too irregular to estimate the wait. */
const leastWaiting = 128;

/**
 * A burst of this size may wait if slots serve all of it within `crowdMs`. An overload looks the same for that long.
 */
const [crowd, crowdMs] = [256, 1_000];

/** The amount of admitted work that is enough to measure the pace. */
const tellingSlots = 16;

/** Work that waited this long is refused, in milliseconds. */
const patienceMs = 2_000;

/** The time between two checks of the limit, in milliseconds. */
const lookMs = 50;

/** An overload is over after this time without a refusal, in milliseconds. */
const overMs = 5_000;

const longestRetrySeconds = 30;

/** Created once for each delay: the stack of an error would cost as much as the rest of a refusal. */
const refusals = new Map<number, Overloaded>();

/** The 503 of an overloaded server: the request had no effect and may be sent again. */
export class Overloaded extends EngineError {
  constructor(seconds: number) {
    const when = `try again in ${seconds} second${seconds === 1 ? "" : "s"}`;
    super("unavailable", `The server is overloaded: ${when}`, { retryAfterSeconds: seconds });
  }
}

interface Dependencies {
  clock: Clock;
  log: Log;
  /** Returns the delay of the event loop, in milliseconds; measured by the clock unless given. */
  loopDelay?: () => number;
  /** Returns a number from 0 to 1; tests set it. */
  random?: () => number;
}

/**
 * Admits work that costs the database and this process at once, such as the opening of a turn: as much at a time as
 * both do without delay (`AdaptiveLimit`), in fair shares (`ShareQueue`). Work that waits for others, such as a turn
 * that waits for its model, takes no slot, however much of it there is.
 */
export class Admission {
  readonly #dependencies: Required<Dependencies>;
  readonly #limit = new AdaptiveLimit();
  readonly #line = new ShareQueue();
  /** The start of each running piece of work, oldest first. */
  readonly #begun = new Set<{ at: number }>();
  #endedAt = 0;
  #ending = 0;
  /** The current wave of waiting calls: when it began, how many calls got a slot since then, and when the last one did. */
  #wave = { since: 0, admitted: 0, lastAt: 0 };
  #lookedAt = 0;
  #reached = false;
  #tookMs: number[] = [];
  /** The counts since the last check, and smoothed over the last seconds. */
  readonly #counts = { admitted: 0, refused: 0 };
  readonly #rates = { admitted: 0, refused: 0 };
  /** Since the start. */
  readonly #totals = { admitted: 0, refused: 0 };
  #overload: { since: number; refused: number; lastAt: number } | null = null;

  constructor(dependencies: Dependencies) {
    this.#dependencies = { loopDelay: loopDelay(dependencies.clock), random: Math.random, ...dependencies };
  }

  /** The running and waiting work, the limit, and the work admitted and refused since the start. */
  get figures() {
    const { busy, waiting } = this.#line;
    return { busy: busy + this.#ending, waiting, places: this.#limit.slots, ...this.#totals };
  }

  /** Throws `Overloaded` at once when `during` would do so. */
  requireRoom(share: Share): void {
    this.#look();
    if (this.#isFull() && this.#line.wouldBeLast(share)) throw this.#refuse();
  }

  /** Does `work` once there is a slot. Throws `Overloaded` when none is free soon. `work` must not call `during` again. */
  async during<T>(share: Share, work: () => Promise<T>): Promise<T> {
    const waiting = this.#enter(share);
    if (waiting) await waiting;
    this.#counts.admitted += 1;
    this.#totals.admitted += 1;
    try {
      return await this.#timed(work);
    } finally {
      this.#line.end(share);
      this.#advance();
    }
  }

  /** Does work that can't be refused, such as recording a turn. It takes slots from new work. */
  async always<T>(work: () => Promise<T>): Promise<T> {
    this.#ending += 1;
    try {
      return await this.#timed(work);
    } finally {
      this.#ending -= 1;
      this.#advance();
    }
  }

  #enter(share: Share): Promise<void> | null {
    this.#advance();
    if (this.#line.waiting === 0 && this.#hasSlot()) {
      this.#line.begin(share);
      return null;
    }
    this.#reached = true;
    if (this.#isFull()) {
      if (this.#line.wouldBeLast(share)) throw this.#refuse();
      this.#line.last()?.refuse();
    }
    return this.#wait(share);
  }

  #wait(share: Share): Promise<void> {
    const now = this.#dependencies.clock.now();
    if (this.#line.waiting === 0) this.#wave = { since: now, admitted: 0, lastAt: now };
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        share,
        admit: () => {
          cancel();
          this.#wave.admitted += 1;
          this.#wave.lastAt = this.#dependencies.clock.now();
          this.#line.begin(share);
          resolve();
        },
        refuse: () => {
          cancel();
          reject(this.#refuse());
        },
      };
      const cancel = this.#dependencies.clock.after(patienceMs, () => {
        this.#line.leave(waiter);
        waiter.refuse();
      });
      this.#line.join(waiter);
    });
  }

  async #timed<T>(work: () => Promise<T>): Promise<T> {
    const begun = { at: this.#dependencies.clock.now() };
    this.#begun.add(begun);
    try {
      return await work();
    } finally {
      this.#begun.delete(begun);
      this.#endedAt = this.#dependencies.clock.now();
      this.#tookMs.push(this.#endedAt - begun.at);
    }
  }

  /** How much work may wait. While nothing is late, a burst that arrived at once is not refused. */
  #mostWaiting(): number {
    const now = this.#dependencies.clock.now();
    if (!this.#overload && !this.#limit.isLate(now)) return Number.POSITIVE_INFINITY;
    const { since, admitted, lastAt } = this.#wave;
    if (now - Math.min(since, this.#overload?.since ?? since) < crowdMs) {
      const served = admitted < tellingSlots ? crowd : (admitted / (lastAt - since)) * crowdMs;
      return Math.min(crowd, Math.max(leastWaiting, served));
    }
    return Math.max(leastWaiting, (this.#rates.admitted / lookMs) * waitMs);
  }

  #isFull(): boolean {
    return this.#line.waiting >= this.#mostWaiting();
  }

  #hasSlot(): boolean {
    const { busy } = this.#line;
    return busy < leastSlots || busy + this.#ending < this.#limit.slots;
  }

  #advance(): void {
    this.#look();
    while (this.#line.waiting > 0 && this.#hasSlot()) this.#line.next()?.admit();
    // A burst that waits already keeps waiting for slots: a refusal now would come late.
    while (this.#line.waiting > Math.max(crowd, this.#mostWaiting())) this.#line.last()?.refuse();
  }

  #look(): void {
    const { clock, loopDelay } = this.#dependencies;
    const lateMs = loopDelay();
    const now = clock.now();
    if (now - this.#lookedAt < lookMs) return;
    const [oldest] = this.#begun;
    this.#limit.look(
      {
        lateMs,
        tookMs: this.#tookMs,
        stalledMs: oldest ? now - Math.max(oldest.at, this.#endedAt) : 0,
        reached: this.#reached,
      },
      now,
    );
    for (const which of ["admitted", "refused"] as const) {
      this.#rates[which] += 0.05 * (this.#counts[which] - this.#rates[which]);
      this.#counts[which] = 0;
    }
    this.#lookedAt = now;
    this.#reached = false;
    this.#tookMs = [];
  }

  #refuse(): Overloaded {
    const now = this.#dependencies.clock.now();
    this.#reached = true;
    this.#counts.refused += 1;
    this.#totals.refused += 1;
    this.#noteOverload(now);
    // Clients retry within this many seconds, so that retries come no faster than they can be served.
    const spread = Math.min(longestRetrySeconds, Math.max(1, this.#rates.refused / Math.max(1, this.#rates.admitted)));
    const seconds = 1 + Math.floor(this.#dependencies.random() * spread);
    const refusal = refusals.get(seconds) ?? new Overloaded(seconds);
    refusals.set(seconds, refusal);
    return refusal;
  }

  /** Logs the beginning and the end of an overload. */
  #noteOverload(now: number): void {
    const { clock, log } = this.#dependencies;
    if (this.#overload) {
      this.#overload.refused += 1;
      this.#overload.lastAt = now;
      return;
    }
    const overload = { since: now, refused: 1, lastAt: now };
    this.#overload = overload;
    const places = Math.floor(this.#limit.slots);
    log.warn({ places, lateMs: Math.round(this.#dependencies.loopDelay()) }, "Overloaded: calls are refused");
    const end = () => {
      const left = overload.lastAt + overMs - clock.now();
      if (left > 0) return void clock.after(left, end);
      this.#overload = null;
      log.info({ refused: overload.refused, ms: overload.lastAt - overload.since }, "No longer overloaded");
    };
    clock.after(overMs, end);
  }
}
