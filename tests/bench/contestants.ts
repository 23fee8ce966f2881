import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../postgres-node.ts";
import { completions, type Target } from "./doors.ts";
import { createAgents, createBoundAgents, startEngine } from "./engine.ts";
import { load } from "./load.ts";
import { settle } from "./meter.ts";
import { type Peer, stayHome } from "./peers.ts";
import { type ServerProcess, startMeasured } from "./processes.ts";
import { shapeNames } from "./shapes.ts";

export interface Contestant {
  name: string;
  process: ServerProcess;
  target: Target;
  /** Of its own; null: embedded. */
  databaseUrl: string | null;
  /** The file for its memory use; see collect.ts. */
  memoryPath: string;
  /** From its start, on an empty database, until it listened. */
  startMs: number;
  /** The longest time after a turn until its background work ends. */
  settleMs: number;
}

interface Kind {
  modelUrl: string;
  /** Null: embedded. */
  makeDatabase: (() => Promise<string>) | null;
  /** Turns before anything is measured, streamed and twice as many not, until the compiler has seen the hot paths. */
  warmUp: number;
  /** Another build of the engine that takes part. */
  otherEngine?: string | undefined;
  /** Whether an engine takes part whose agents have a connection with two fallbacks. */
  bound?: boolean;
  peers?: readonly Peer[];
}

/** Garbage collection on demand; costs nothing until it is used. */
export const collectable = `--expose-gc --import=${new URL("collect.ts", import.meta.url).href}`;

const floors = [
  ["relay", "relay.ts"],
  ["streamText", "stream-text.ts"],
] as const;

const floorTarget = (url: string): Target => ({ url, door: completions });

/** The floors, the engine and its peers, on databases of one kind; ended when `work` is. */
export async function withContestants<T>(kind: Kind, work: (contestants: Contestant[]) => Promise<T>): Promise<T> {
  const { modelUrl, makeDatabase, warmUp, otherEngine, bound = false, peers = [] } = kind;
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const contestants: Contestant[] = [];
  const started: ServerProcess[] = [];

  const add = async (
    name: string,
    settleMs: number,
    start: (env: Record<string, string>) => Promise<ServerProcess>,
    targetAt: (url: string) => Target | Promise<Target>,
  ) => {
    const databaseUrl = makeDatabase ? await makeDatabase() : null;
    const memoryPath = join(directory, `${name}-memory`);
    const startedAt = performance.now();
    const process = await start({
      ...(databaseUrl === null ? { DATA_DIR: join(directory, name) } : { DATABASE_URL: databaseUrl }),
      ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      BENCH_MEMORY_PATH: memoryPath,
      NODE_OPTIONS: collectable,
      MODEL_URL: modelUrl,
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    });
    const startMs = performance.now() - startedAt;
    started.push(process);
    const target = await targetAt(process.url);
    contestants.push({ name, process, target, databaseUrl, memoryPath, startMs, settleMs });
  };

  try {
    for (const [name, script] of floors) {
      await add(name, 0, (env) => startMeasured(script, env), floorTarget);
    }
    await add("engine", 3_000, (env) => startEngine(env), createAgents);
    if (otherEngine) await add("other engine", 3_000, (env) => startEngine(env, otherEngine), createAgents);
    if (bound) {
      const start = (env: Record<string, string>) => startEngine({ ...env, EDITION: "managed" });
      await add("bound engine", 3_000, start, (url) => createBoundAgents(url, modelUrl));
    }
    for (const { name, script, door } of peers) {
      const start = async ({ NODE_OPTIONS = "", ...env }: Record<string, string>) =>
        startMeasured(script, {
          ...env,
          NODE_OPTIONS: `${NODE_OPTIONS} ${stayHome}`,
          NODE_ENV: "production",
          MASTRA_TELEMETRY_DISABLED: "1",
          PORT: String(await freePort()),
          SHAPES: shapeNames.join(),
        });
      await add(name, 1_000, start, (url) => ({ url, door }));
    }
    for (const { target, process, settleMs } of contestants) {
      await load(target, "short", { turns: warmUp, concurrency: 16 });
      await load(target, "next", { turns: 2 * warmUp, concurrency: 16, streamed: false });
      await settle(process.pid, settleMs);
    }
    return await work(contestants);
  } finally {
    for (const process of started) await process.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
