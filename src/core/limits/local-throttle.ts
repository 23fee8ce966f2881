import { judge, type Limit, type ThrottleResult, type ThrottleWindow } from "./throttle.ts";

/** The most windows at a time; a new one replaces the oldest. */
const mostWindows = 10_000;

/**
 * Counts requests in this process only, and without a statement: for requests that are refused anyway, so that a flood
 * of them is cheap. Several processes together allow a multiple of the limit.
 */
export class LocalThrottle {
  readonly #windows = new Map<string, ThrottleWindow>();

  /** Counts one request of `key`; `firstRefusal`: the request is the first in its window over the limit. */
  count(key: string, limit: Limit, now: number): { result: ThrottleResult; firstRefusal: boolean } {
    const window = this.#open(key, limit, now) ?? this.#begin(key, now + limit.windowMs);
    window.count += 1;
    return { result: judge(window, limit, now), firstRefusal: window.count === limit.calls + 1 };
  }

  /** The result of one more request of `key`, without counting it. */
  judgeNext(key: string, limit: Limit, now: number): ThrottleResult {
    const { count, resets_at_ms } = this.#open(key, limit, now) ?? { count: 0, resets_at_ms: now + limit.windowMs };
    return judge({ count: count + 1, resets_at_ms }, limit, now);
  }

  #open(key: string, { windowMs }: Limit, now: number): ThrottleWindow | null {
    const window = this.#windows.get(key);
    if (!window || window.resets_at_ms <= now) return null;
    // After the clock was set back, no window ends later than one that begins now.
    window.resets_at_ms = Math.min(window.resets_at_ms, now + windowMs);
    return window;
  }

  #begin(key: string, resetsAt: number): ThrottleWindow {
    this.#windows.delete(key);
    const oldest = this.#windows.size >= mostWindows ? this.#windows.keys().next().value : undefined;
    if (oldest !== undefined) this.#windows.delete(oldest);
    const window = { count: 0, resets_at_ms: resetsAt };
    this.#windows.set(key, window);
    return window;
  }
}
