import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownerToken, startEngine } from "../engine.ts";
import { median, quantile } from "../figures.ts";
import { startMeasured } from "../processes.ts";
import type { Rolled } from "./roller.ts";
import { days } from "./seed.ts";

const turns = 500_000;
const warm = 9;

const paths = [
  ["30 days", "/api/analytics"],
  [`${days} days`, `/api/analytics?from=${dayAgo(days)}`],
  ["30 days of one agent", "/api/instances/busy-1/analytics"],
  ["30 days of another zone", `/api/analytics?from=${dayAgo(30)}T05:00:00Z&to=${dayAgo(0)}T05:00:00Z`],
  ["30 days by end user", "/api/analytics/usage?by=user"],
  ["what runs and failed", "/api/analytics/now"],
] as const;

export const analyticsHead = ["Asked for", "Before the roll-up, ms", "After it: first, ms", "Then, ms p50 / p95"];

/** The time of analytics over a million messages, and of summing them up; null: on the embedded database. */
export async function measureAnalytics(databaseUrl: string | null): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-analytics-"));
  const key = { ENCRYPTION_KEY: randomBytes(32).toString("hex") };
  try {
    return await measure(databaseUrl === null ? { DATA_DIR: directory } : { ...key, DATABASE_URL: databaseUrl });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function measure(env: Record<string, string>): Promise<string[][]> {
  await (await startEngine(env)).stop();
  await roller(env, `/seed/${turns}`);
  const before = await ask(env, 1);
  const ms = await roller(env, "/roll");
  const after = await ask(env, 1 + warm);
  const asked = paths.map(([name], index) => {
    const [first = 0, ...then] = after[index] ?? [];
    const again = `${median(then).toFixed(0)} / ${quantile(then, 0.95).toFixed(0)}`;
    return [name, (before[index]?.[0] ?? 0).toFixed(0), first.toFixed(0), again];
  });
  const seconds = ms.reduce((sum, one) => sum + one, 0) / 1000;
  const each = `${median(ms).toFixed(1)} / ${quantile(ms, 0.95).toFixed(1)}`;
  return [...asked, [`the roll-up itself, ${ms.length} statements`, `${seconds.toFixed(0)} s in all`, "–", each]];
}

async function roller(env: Record<string, string>, path: string): Promise<Rolled> {
  const server = await startMeasured("analytics/roller.ts", env);
  try {
    const response = await fetch(server.url + path);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return (await response.json()) as Rolled;
  } finally {
    await server.stop();
  }
}

/** Requests each path from a new server this many times; answers the milliseconds of each. */
async function ask(env: Record<string, string>, times: number): Promise<number[][]> {
  const engine = await startEngine(env);
  try {
    const headers = { Authorization: `Bearer ${await ownerToken(engine.url)}` };
    const found: number[][] = paths.map(() => []);
    for (let time = 0; time < times; time += 1) {
      for (const [index, [name, path]] of paths.entries()) {
        const startedAt = performance.now();
        const response = await fetch(engine.url + path, { headers });
        await response.arrayBuffer();
        // Without sums a long period may take longer than a statement is allowed to.
        if (!response.ok && !(times === 1 && response.status === 503)) throw new Error(`${name}: ${response.status}`);
        found[index]?.push(performance.now() - startedAt);
      }
    }
    return found;
  } finally {
    await engine.stop();
  }
}

function dayAgo(count: number): string {
  return new Date(Date.now() - count * 24 * 3_600_000).toISOString().slice(0, 10);
}
