import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../postgres-node.ts";
import { createAgents, engineTarget, readLog, spawnEngine } from "./engine.ts";
import { shown } from "./figures.ts";
import { turn } from "./load.ts";

const times = 5;

/**
 * For a minute, ext4 passes over the inodes of files that were deleted, and each new file then takes 0.5 ms of CPU: an empty
 * database has 700. What other parts of the bench deleted is not the start's.
 */
const deletedMs = 70_000;

export const startHead = ["Start", "Healthy, ms", "First token, ms"];

interface Start {
  healthMs: number;
  firstMs: number;
}

/** From spawn to the first 200 of /health and to the first token of an agent's reply, which is made first if needed. */
async function start(env: Record<string, string>, fresh: boolean): Promise<Start> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const child = spawnEngine({ ...env, PORT: String(port) });
  readLog(child);
  try {
    while (!(await healthy(url))) {
      if (child.exitCode !== null) throw new Error(`The engine ended with ${child.exitCode} before it was healthy`);
      await sleep(2);
    }
    const healthMs = performance.now() - startedAt;
    const target = fresh ? await createAgents(url, ["brief"]) : engineTarget(url);
    const askedMs = performance.now() - startedAt;
    return { healthMs, firstMs: askedMs + (await turn(target, "brief")) };
  } finally {
    if (child.exitCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  }
}

function healthy(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asking = request(`${url}/health`, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asking.once("error", () => resolve(false));
    asking.end();
  });
}

/** Fresh: no schema, owner or agent. Again: all of them exist. */
export async function measureStart(
  modelUrl: string,
  makeDatabase: (() => Promise<string>) | null,
): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const model = { OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1` };
  const kinds: [string, (time: number) => Promise<Record<string, string>>][] = [
    ["embedded", async (time) => ({ ...model, DATA_DIR: join(directory, String(time)) })],
  ];
  if (makeDatabase) {
    const key = "5".repeat(64);
    kinds.push(["PostgreSQL", async () => ({ ...model, DATABASE_URL: await makeDatabase(), ENCRYPTION_KEY: key })]);
  }
  await sleep(deletedMs);
  try {
    const rows = [["`node -e 0`, for comparison", shown(Array.from({ length: times }, bareNode)), "–"]];
    for (const [kind, prepare] of kinds) {
      const fresh: Start[] = [];
      const again: Start[] = [];
      for (let time = 0; time < times; time += 1) {
        const env = await prepare(time);
        fresh.push(await start(env, true));
        again.push(await start(env, false));
      }
      rows.push(row(`${kind}, fresh`, fresh), row(`${kind}, again`, again));
    }
    return rows;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function bareNode(): number {
  const startedAt = performance.now();
  execFileSync(process.execPath, ["-e", "0"]);
  return performance.now() - startedAt;
}

const row = (name: string, starts: Start[]) => [
  name,
  shown(starts.map(({ healthMs }) => healthMs)),
  shown(starts.map(({ firstMs }) => firstMs)),
];
