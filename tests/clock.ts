import type { Clock } from "../src/core/ports.ts";

interface Timer {
  at: number;
  fn: () => void;
}

/** A clock that moves only when a test says so. */
export class TestClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + ms, fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Whether a timer this many milliseconds from now waits. */
  waiting(ms: number): boolean {
    return [...this.#timers].some(({ at }) => at === this.#now + ms);
  }

  /** Moves the clock at once, and then fires the due timers, whose work then has this time. */
  async jump(ms: number): Promise<void> {
    this.#now += ms;
    await this.advance(0);
  }

  /** Sets the time back, as an operator may. Timers still fire after the delay they were set for. */
  setBack(ms: number): void {
    this.#now -= ms;
    for (const timer of this.#timers) timer.at -= ms;
  }

  /** Moves the clock and fires the timers that fall due, in order; lets pending promises run between two timers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#now = Math.max(this.#now, due.at);
      this.#timers.delete(due);
      due.fn();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#now = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
