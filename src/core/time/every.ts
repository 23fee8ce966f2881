import type { Clock } from "../ports.ts";

/** A work that rests for so long, in milliseconds, once it went well and says that it is complete. */
export function every(clock: Clock, ms: number, work: (now: number) => Promise<boolean>): () => Promise<void> {
  let due = 0;
  return async () => {
    const now = clock.now();
    if (now >= due && (await work(now))) due = now + ms;
  };
}
