import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "../engine.ts";
import { quantile } from "../figures.ts";
import type { PostgresCpu } from "../postgres-cpu.ts";
import { cpuMs, type ServerProcess, startMeasured } from "../processes.ts";
import { createRoomAgent } from "./agent.ts";
import type { Ticks } from "./ticker.ts";

const agents = 10_000;
const [warmingUp, ticks] = [50, 200];

export const tickHead = [
  "Database",
  "Agents with Room, source and task",
  "Statements a tick",
  "Jobs made",
  "Tick, ms p50 / p99",
  "CPU-ms a tick",
  "PostgreSQL's own",
];

/** The cost of looking for due work when there is none: with one agent, and with many more. */
export async function measureTick(databaseUrl: string, watched: PostgresCpu | null): Promise<string[][]> {
  const rows: string[][] = [];
  const key = { ENCRYPTION_KEY: randomBytes(32).toString("hex") };
  for (const [database, url] of [
    ["PostgreSQL", databaseUrl],
    ["embedded", null],
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "agent-engine-tick-"));
    const env = url === null ? { DATA_DIR: directory } : { ...key, DATABASE_URL: url };
    const own = () => (url === null ? undefined : watched?.count(new URL(url).pathname.slice(1)));
    try {
      const engine = await startEngine(env);
      await createRoomAgent(engine.url);
      await engine.stop();
      const ticker = await startTicker(env);
      try {
        rows.push([database, "1", ...(await measure(ticker, own))]);
        await ask(ticker, `/crowd/${agents}/0`);
        rows.push([database, (agents + 1).toLocaleString("en"), ...(await measure(ticker, own))]);
      } finally {
        await ticker.stop();
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  return rows;
}

/** The scheduler alone, on a database with the engine's schema. */
export function startTicker(env: Record<string, string>): Promise<ServerProcess> {
  return startMeasured("room/ticker.ts", env);
}

export async function ask({ url }: ServerProcess, path: string): Promise<Ticks> {
  const response = await fetch(url + path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as Ticks;
}

async function measure(ticker: ServerProcess, own: () => (() => number) | undefined): Promise<string[]> {
  const before = (await ask(ticker, `/ticks/${warmingUp}`)).jobs;
  const [cpuBefore, postgres] = [cpuMs(ticker.pid), own()];
  const { statements, jobs, ms } = await ask(ticker, `/ticks/${ticks}`);
  const used = cpuMs(ticker.pid) - cpuBefore;
  return [
    (statements / ticks).toFixed(2),
    String(jobs - before),
    [0.5, 0.99].map((share) => quantile(ms, share).toFixed(1)).join(" / "),
    (used / ticks).toFixed(2),
    postgres ? (postgres() / ticks).toFixed(2) : "–",
  ];
}
