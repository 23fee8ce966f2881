import type { Clock } from "../core/ports.ts";

export interface Watchdog {
  /** Notes a sign of life, and starts the time of silence again. */
  heard(): void;
  stop(): void;
}

/**
 * Calls `onSilence` when the first sign of life takes longer than `connectMs`, or a later one longer than `silenceMs`.
 * A part costs only one reading of the clock: the timer is set again only when it fires too early.
 */
export function watch(clock: Clock, limits: { connectMs: number; silenceMs: number }, onSilence: () => void): Watchdog {
  let deadline = clock.now() + limits.connectMs;
  let cancel = clock.after(Math.min(limits.connectMs, limits.silenceMs), check);

  function check(): void {
    const remaining = deadline - clock.now();
    if (remaining <= 0) onSilence();
    else cancel = clock.after(Math.min(remaining, limits.silenceMs), check);
  }

  return {
    heard() {
      deadline = clock.now() + limits.silenceMs;
    },
    stop: () => cancel(),
  };
}
