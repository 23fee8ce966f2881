import type { Clock } from "../ports.ts";

interface Options {
  clock: Clock;
  /** How long a value is used, in milliseconds. */
  freshMs: number;
  /** Called once for each failed read. */
  onFailure(err: unknown): void;
}

/** How long a failure is used at most, in milliseconds: otherwise a rarely read value would be missing for long. */
const longestFailureMs = 60_000;

/** Reads at most once in `freshMs`, for all callers. A failed read returns null, for a minute at most. */
export function sharedRead<T>({ clock, freshMs, onFailure }: Options, read: () => Promise<T>): () => Promise<T | null> {
  let last: { at: number; goodMs: number; value: Promise<T | null> } | null = null;
  return () => {
    const age = last ? clock.now() - last.at : 0;
    // A value from the future: it was read before the clock was set back.
    if (last && age >= 0 && age < last.goodMs) return last.value;
    const value = read().catch((err: unknown) => {
      onFailure(err);
      reading.goodMs = Math.min(freshMs, longestFailureMs);
      return null;
    });
    const reading = { at: clock.now(), goodMs: freshMs, value };
    last = reading;
    return value;
  };
}
