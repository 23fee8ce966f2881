import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contestant } from "./contestants.ts";
import { cores } from "./cores.ts";
import type { PostgresCpu } from "./postgres-cpu.ts";
import { cpuMs } from "./processes.ts";

/** CPU-milliseconds. */
export interface Cost {
  server: number;
  /** Null: not measurable. */
  postgres: number | null;
}

/** Measures the cost of a contestant's server, and whether other load slowed it down. */
export class Meter {
  readonly #postgres: PostgresCpu | null;
  #fullest = 0;
  #foreign = 0;

  constructor(postgres: PostgresCpu | null) {
    this.#postgres = postgres;
  }

  /** The cost of `work` at its end; waits for the work it leaves behind, so that it disturbs no other measurement. */
  async cost({ process, databaseUrl, settleMs }: Contestant, work: () => Promise<unknown>): Promise<Cost> {
    const postgres = databaseUrl === null ? null : this.#postgres?.count(new URL(databaseUrl).pathname.slice(1));
    const before = cpuMs(process.pid);
    const share = busyShare();
    const startedAt = performance.now();
    await work();
    const atEnd: Cost = { server: cpuMs(process.pid) - before, postgres: postgres?.() ?? null };
    if (cores) {
      this.#fullest = Math.max(this.#fullest, share(cores.rest));
      const own = atEnd.server / (performance.now() - startedAt);
      this.#foreign = Math.max(this.#foreign, share([cores.server]) - own);
    }
    await settle(process.pid, settleMs);
    return atEnd;
  }

  /** A full core of the load holds the servers back, and so does other work on theirs. */
  report(): string {
    if (!cores) return "The cores were not shared out, so that the load may have held the servers back.";
    const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
    const told = `The load's core was ${percent(this.#fullest)} full at most, and other work took ${percent(this.#foreign)} of the servers' core at most.`;
    return this.#fullest > 0.9
      ? `${told} TOO FULL: times to the first token and what was delivered tell little.`
      : told;
  }
}

/** Starts measuring; the function answers the busy share of some cores since. */
function busyShare(): (which: number[]) => number {
  const before = cpus();
  return (which) => {
    const after = cpus();
    let [busy, all] = [0, 0];
    for (const core of which) {
      const [from, to] = [before[core]?.times, after[core]?.times];
      if (!from || !to) continue;
      const passed = (Object.keys(to) as (keyof typeof to)[]).reduce((sum, kind) => sum + to[kind] - from[kind], 0);
      all += passed;
      busy += passed - (to.idle - from.idle);
    }
    return all > 0 ? busy / all : 0;
  };
}

/** Waits until a process is idle, and at least this long. */
export async function settle(pid: number, leastMs: number): Promise<void> {
  if (leastMs === 0) return;
  await sleep(leastMs);
  for (let before = cpuMs(pid), tries = 0; tries < 40; tries += 1) {
    await sleep(500);
    const now = cpuMs(pid);
    if (now - before < 25) return;
    before = now;
  }
}
