import type { Clock } from "../ports.ts";

/**
 * Runs `work` for at most `ms` milliseconds. Then aborts its signal and rejects with `tooLate`, even if `work` ignores
 * its signal.
 */
export async function withinTime<T>(
  clock: Clock,
  ms: number,
  tooLate: Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = clock.after(ms, () => controller.abort(tooLate));
  try {
    return await orAborted(work(controller.signal), controller.signal);
  } finally {
    cancel();
  }
}

/**
 * Settles as `promise` does; after an abort, rejects with the signal's reason. A promise of somebody else's code may
 * never settle, even after a cancel.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
