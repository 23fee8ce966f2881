import { setTimeout as sleep } from "node:timers/promises";

/** Begins this many works at this pace, whether or not earlier ones have ended. Answers their results, in order. */
export async function paced<T>(
  { count, perSecond }: { count: number; perSecond: number },
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const begun: Promise<T>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / perSecond - performance.now()));
    begun.push(work(index));
  }
  return Promise.all(begun);
}
