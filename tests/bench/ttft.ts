import type { Contestant } from "./contestants.ts";
import { completions, type Target } from "./doors.ts";
import { quantile } from "./figures.ts";
import type { Line } from "./lines.ts";
import { load, turn } from "./load.ts";
import { replyShapes } from "./shapes.ts";

const alone = 100;
const busy = { turns: 300, concurrency: 50, spreadMs: replyShapes.steady.tokens * replyShapes.steady.everyMs };

/**
 * Milliseconds to the first token beyond those of direct calls to the model server; p10 / p50 / p99. Quantiles are
 * subtracted from each other.
 */
export async function measureTtft(modelUrl: string, contestants: Contestant[]): Promise<Line[]> {
  const direct: Target = { url: modelUrl, door: completions };
  const targets = [direct, ...contestants.map(({ target }) => target)];

  // One after the other within each sample, so that the machine's other load affects all.
  const one: number[][] = targets.map(() => []);
  for (const target of targets) await load(target, "brief", { turns: 20, concurrency: 1 });
  for (let sample = 0; sample < alone; sample += 1) {
    for (const [index, target] of targets.entries()) one[index]?.push(await turn(target, "brief"));
  }
  const many: number[][] = [];
  for (const target of targets) many.push(await load(target, "steady", busy));

  return [line("1 stream", one), line("50 streams", many)];
}

const shares = [0.1, 0.5, 0.99];

function line(streams: string, [direct = [], ...others]: number[][]): Line {
  return {
    name: `${streams}: ms added to the first token, p10 / p50 / p99`,
    cells: others.map((values) => {
      const added = shares.map((share) => quantile(values, share) - quantile(direct, share));
      return { text: added.map((value) => value.toFixed(1)).join(" / "), value: added[1] ?? null };
    }),
  };
}
