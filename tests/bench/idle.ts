import type { Contestant } from "./contestants.ts";
import { type Line, Lines } from "./lines.ts";
import { memoryKiB } from "./processes.ts";

/** The cost of a start, and of idling after the turns that have run so far. */
export function measureIdle(contestants: Contestant[]): Line[] {
  const lines = new Lines(contestants, 0);
  for (const contestant of contestants) {
    lines.add("start on an empty database: ms until it listens", contestant, contestant.startMs);
    lines.add("idle after 1200 turns: MiB resident", contestant, memoryKiB(contestant.process.pid) / 1024);
  }
  return lines.all();
}
