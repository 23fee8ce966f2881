import type { PostgresCpu } from "../postgres-cpu.ts";
import { callsHead, measureCalls } from "./calls.ts";
import { type LargeOptions, openSides, type Sides } from "./databases.ts";
import { measureTables, tablesHead } from "./tables.ts";
import { measureLargeTurns, turnsHead } from "./turns.ts";
import { measureUpkeep, upkeepHead } from "./upkeep.ts";

type Options = Omit<LargeOptions, "makeDatabase"> & { watched: PostgresCpu | null; rounds: number };

/** The two databases, with how they are measured. */
interface Large extends Sides {
  watched: PostgresCpu | null;
  rounds: number;
}

/** In this order: the last one deletes. */
export const largeParts: { title: string; head: string[]; measure(large: Large): Promise<string[][]> }[] = [
  { title: "tables", head: tablesHead, measure: measureTables },
  { title: "turns", head: turnsHead, measure: (large) => measureLargeTurns(large, large.watched, large.rounds) },
  { title: "calls", head: callsHead, measure: measureCalls },
  { title: "upkeep", head: upkeepHead, measure: measureUpkeep },
];

/** Opens the two databases once for all parts. */
export function createLarge({ watched, rounds, ...options }: Options) {
  let sides: Promise<Sides> | null = null;
  return {
    async open(makeDatabase: () => Promise<string>): Promise<Large> {
      sides ??= openSides({ ...options, makeDatabase });
      return { ...(await sides), watched, rounds };
    },
    async close(): Promise<void> {
      await (await sides)?.stop();
    },
  };
}
