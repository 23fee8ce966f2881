import { setTimeout as pause } from "node:timers/promises";

/** The longest wait for a server's rate limit, and the most waits. */
const longestSeconds = 120;
const mostWaits = 10;

/** The longest request, except while it waits for its turn. */
const timeoutMs = 120_000;

interface Options {
  fetch: typeof fetch;
  /** Called before each wait. */
  onWait(seconds: number): void;
}

/**
 * A `fetch` that waits as long as the server's rate limit requires, then repeats the request, since a throttled request
 * has changed nothing. It follows no redirect, because the key is for one address only.
 */
export function patientFetch({ fetch: call, onWait }: Options): typeof fetch {
  return async (input, init) => {
    for (let waits = 0; ; waits += 1) {
      const response = await call(input, { ...init, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
      const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
      if (response.status !== 429 || !(seconds <= longestSeconds) || waits >= mostWaits) return response;
      await response.body?.cancel();
      onWait(seconds);
      await pause(seconds * 1000);
    }
  };
}
