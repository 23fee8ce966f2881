import fc from "fast-check";

/** How often faults happen: once, or more often by `npm run hard:faults`, for a person who waits. */
export const rounds = Number(process.env.FAULT_ROUNDS ?? 1);

/** What takes long, and is tried in `hard:faults` alone: nothing in the first round. */
export const inHardFaults = <Item>(items: readonly Item[]): readonly Item[] => (rounds > 1 ? items : []);

/** Times in milliseconds at which a process dies, besides the chosen moments: some for each round after the first one. */
export function randomTimes(count: number, range: { min: number; max: number }): number[] {
  const seed = Number(process.env.FUZZ_SEED ?? 1);
  return fc.sample(fc.integer(range), { numRuns: count * (rounds - 1), seed });
}
