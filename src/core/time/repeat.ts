import type { Clock } from "../ports.ts";

/**
 * Repeats `work`, with `ms` milliseconds between its end and the next start, also after a failure. The returned function
 * stops that, and resolves when no work runs.
 */
export function repeat(
  clock: Clock,
  ms: number,
  work: () => Promise<void>,
  onFailure: (error: unknown) => void,
): () => Promise<void> {
  let cancel = () => {};
  let stopped = false;
  let running = Promise.resolve();
  const next = () => {
    if (!stopped) cancel = clock.after(ms, run);
  };
  const run = () => {
    running = work().catch(onFailure).finally(next);
  };
  next();
  return () => {
    stopped = true;
    cancel();
    return running;
  };
}
