import { type Contestants, type Name, names } from "./contestants.ts";
import { median, shown } from "./figures.ts";
import { load } from "./load.ts";
import { cpuMs } from "./processes.ts";
import { replyShapes } from "./shapes.ts";

const rounds = 3;
const loads = {
  short: { turns: 400, concurrency: 16, unit: "CPU-ms a turn (12 tokens, 16 at a time)" },
  long: { turns: 50, concurrency: 50, unit: "CPU-ms a 1000 tokens (50 streams)" },
} as const;

export const cpuHead = ["Database", "Cost", "Bare relay", "streamText", "Engine", "to relay", "to streamText"];

/** What a turn and a token cost in CPU time of the server's process. The contestants take turns and idle meanwhile. */
export async function measureCpu(database: string, contestants: Contestants): Promise<string[][]> {
  const costs = {
    short: { relay: [], streamText: [], engine: [] },
    long: { relay: [], streamText: [], engine: [] },
  } as Record<keyof typeof loads, Record<Name, number[]>>;
  for (let round = 0; round < rounds; round += 1) {
    for (const shape of ["short", "long"] as const) {
      const { turns } = loads[shape];
      const units = shape === "short" ? turns : (turns * replyShapes.long.tokens) / 1000;
      for (const name of names) {
        const { process, target } = contestants[name];
        const before = cpuMs(process.pid);
        await load(target, shape, loads[shape]);
        costs[shape][name].push((cpuMs(process.pid) - before) / units);
      }
    }
  }
  return (["short", "long"] as const).map((shape) => {
    const { relay, streamText, engine } = costs[shape];
    const ratio = (floor: number[]) => `${(median(engine) / median(floor)).toFixed(2)}×`;
    return [database, loads[shape].unit, ...[relay, streamText, engine].map(shown), ratio(relay), ratio(streamText)];
  });
}
