import type { Clock } from "../ports.ts";
import { Rest } from "./rest.ts";

/** A work that rests for so long, in milliseconds, once it went well and says that it is complete. */
export function every(clock: Clock, ms: number, work: (now: number) => Promise<boolean>): () => Promise<void> {
  const rest = new Rest(clock);
  return async () => {
    const now = clock.now();
    if (rest.isOver && (await work(now))) rest.begin(ms, now);
  };
}
