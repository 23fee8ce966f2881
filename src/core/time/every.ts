import type { Clock } from "../ports.ts";
import { Rest } from "./rest.ts";

/** Runs `work` at most every `ms` milliseconds once it has returned true (complete); until then at every call. */
export function every(clock: Clock, ms: number, work: (now: number) => Promise<boolean>): () => Promise<void> {
  const rest = new Rest(clock);
  return async () => {
    const now = clock.now();
    if (rest.isOver && (await work(now))) rest.begin(ms, now);
  };
}
