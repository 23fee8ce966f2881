import { readFileSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "./contestants.ts";
import { turn } from "./load.ts";
import { memoryKiB, type ServerProcess } from "./processes.ts";

const streams = 200;
const settleMs = 2_000;

export const memoryHead = [
  "Process",
  "Idle, MiB",
  `With ${streams} streams, MiB`,
  "KiB a stream, resident",
  "KiB a stream, in use",
];

/** The memory of many open streams of 4 tokens a second, compared to none: resident, and used after a collection. */
export async function measureMemory(contestants: Contestant[]): Promise<string[][]> {
  await sleep(settleMs);
  const before = await sample(contestants);

  const opened: Promise<void>[] = [];
  const ended: Promise<number>[] = [];
  for (const { target } of contestants) {
    for (let count = 0; count < streams; count += 1) {
      const first = Promise.withResolvers<void>();
      opened.push(first.promise);
      ended.push(turn(target, "held", { onFirst: first.resolve }));
    }
  }
  const whole = Promise.all(ended);
  await Promise.race([Promise.all(opened), whole]);
  await sleep(settleMs);
  const during = await sample(contestants);
  await whole;

  return contestants.map(({ name }, index) => {
    const [idle, open] = [before[index] ?? nothing, during[index] ?? nothing];
    const each = (kind: keyof Memory) => ((open[kind] - idle[kind]) / streams).toFixed(0);
    const mib = ({ resident }: Memory) => (resident / 1024).toFixed(0);
    return [name, mib(idle), mib(open), each("resident"), each("used")];
  });
}

/** In KiB. */
export interface Memory {
  resident: number;
  used: number;
}

const nothing: Memory = { resident: 0, used: 0 };

const sample = (contestants: Contestant[]): Promise<Memory[]> =>
  Promise.all(contestants.map(({ process, memoryPath }) => memoryOf(process, memoryPath)));

/** The memory of a process that was started `collectable` and writes to this path. */
export async function memoryOf({ pid }: ServerProcess, memoryPath: string): Promise<Memory> {
  const resident = memoryKiB(pid);
  rmSync(memoryPath, { force: true });
  process.kill(pid, "SIGUSR2");
  return { resident, used: await written(memoryPath) };
}

async function written(path: string): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return Number(readFileSync(path, "utf8"));
    } catch {
      await sleep(50);
    }
  }
  throw new Error("A server did not say how much memory it uses");
}
