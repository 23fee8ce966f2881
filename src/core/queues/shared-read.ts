import type { Clock } from "../ports.ts";

interface Options {
  clock: Clock;
  /** How long an answer is good, in milliseconds. */
  freshMs: number;
  /** Told once for each read that failed. */
  onFailure(err: unknown): void;
}

/** Reads at most once in `freshMs`, for all who ask meanwhile; null where that fails. */
export function sharedRead<T>({ clock, freshMs, onFailure }: Options, read: () => Promise<T>): () => Promise<T | null> {
  let last: { at: number; value: Promise<T | null> } | null = null;
  return () => {
    const age = last ? clock.now() - last.at : 0;
    // An answer of a time that is still to come is from before the time was set back.
    if (last && age >= 0 && age < freshMs) return last.value;
    const value = read().catch((err: unknown) => {
      onFailure(err);
      return null;
    });
    last = { at: clock.now(), value };
    return value;
  };
}
