import type { Clock } from "../../core/ports.ts";

/** `work` with a signal that is aborted, and itself given up, when the time is over. Rejects then with `message`. */
export async function withinTime<T>(
  clock: Clock,
  ms: number,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = clock.after(ms, () => controller.abort(new Error(message)));
  try {
    return await orAborted(work(controller.signal), controller.signal);
  } finally {
    cancel();
  }
}

/** The promise, or a rejection with the signal's reason if that comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
