import { type Contestants, names } from "./contestants.ts";
import { quantile } from "./figures.ts";
import { load, type Target, turn } from "./load.ts";
import { replyShapes } from "./shapes.ts";

const alone = 250;
const busy = { turns: 500, concurrency: 50, spreadMs: replyShapes.steady.tokens * replyShapes.steady.everyMs };

export const ttftHead = ["Database", "Streams", "Model itself", "Relay adds", "streamText adds", "Engine adds"];

/**
 * Milliseconds to the first token over those of the model server when it is asked directly; p10 / p50 / p99. Each quantile
 * is subtracted from its like.
 */
export async function measureTtft(database: string, modelUrl: string, contestants: Contestants): Promise<string[][]> {
  const direct: Target = { url: modelUrl, key: () => "none" };
  const targets = [direct, ...names.map((name) => contestants[name].target)];

  // One after the other within each sample, so that all see the machine in the same mood.
  const one: number[][] = targets.map(() => []);
  for (const target of targets) await load(target, "brief", { turns: 20, concurrency: 1 });
  for (let sample = 0; sample < alone; sample += 1) {
    for (const [index, target] of targets.entries()) one[index]?.push(await turn(target, "brief"));
  }
  const many: number[][] = [];
  for (const target of targets) many.push(await load(target, "steady", busy));

  return [row(database, "1", one), row(database, "50", many)];
}

const shares = [0.1, 0.5, 0.99];

function row(database: string, streams: string, [direct = [], ...others]: number[][]): string[] {
  const three = (values: number[]) => shares.map((share) => quantile(values, share));
  const itself = three(direct);
  const shown = (values: number[]) => values.map((value) => value.toFixed(1)).join(" / ");
  const added = others.map((values) => shown(three(values).map((value, index) => value - (itself[index] ?? 0))));
  return [database, streams, shown(itself), ...added];
}
