import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { completions, type Target } from "./doors.ts";
import { createAgents, startEngine } from "./engine.ts";
import { load } from "./load.ts";
import { type ServerProcess, startMeasured } from "./processes.ts";

export interface Contestant {
  name: string;
  process: ServerProcess;
  target: Target;
  /** Of its own; null: embedded. */
  databaseUrl: string | null;
  /** Where it writes what it uses; see collect.ts. */
  memoryPath: string;
  /** When a turn is over, what it left for the background comes this much later at the latest. */
  settleMs: number;
}

interface Kind {
  modelUrl: string;
  /** Null: embedded. */
  makeDatabase: (() => Promise<string>) | null;
  /** Turns before anything is measured, streamed and not, until the compiler has seen the hot paths. */
  warmUp: number;
  /** Another build of the engine that takes part. */
  otherEngine?: string | undefined;
}

/** Garbage collection on demand; costs nothing while nobody asks. */
export const collectable = `--expose-gc --import=${new URL("collect.ts", import.meta.url).href}`;

/** The floors and the engine, on databases of one kind; ended when `work` is. */
export async function withContestants<T>(kind: Kind, work: (contestants: Contestant[]) => Promise<T>): Promise<T> {
  const { modelUrl, makeDatabase, warmUp, otherEngine } = kind;
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const contestants: Contestant[] = [];

  const add = async (
    name: string,
    settleMs: number,
    start: (env: Record<string, string>) => Promise<{ process: ServerProcess; target: Target }>,
  ) => {
    const databaseUrl = makeDatabase ? await makeDatabase() : null;
    const memoryPath = join(directory, `${name}-memory`);
    const started = await start({
      ...(databaseUrl === null ? { DATA_DIR: join(directory, name) } : { DATABASE_URL: databaseUrl }),
      ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      BENCH_MEMORY_PATH: memoryPath,
      NODE_OPTIONS: collectable,
      MODEL_URL: modelUrl,
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    });
    contestants.push({ name, databaseUrl, memoryPath, settleMs, ...started });
  };
  const floor = (script: string) => async (env: Record<string, string>) => {
    const process = await startMeasured(script, env);
    return { process, target: { url: process.url, door: completions } };
  };
  const engine = (program?: string) => async (env: Record<string, string>) => {
    const process = await startEngine(env, program);
    return { process, target: await createAgents(process.url) };
  };

  try {
    await add("relay", 0, floor("relay.ts"));
    await add("streamText", 0, floor("stream-text.ts"));
    await add("engine", 4_000, engine());
    if (otherEngine) await add("other engine", 4_000, engine(otherEngine));
    for (const { target } of contestants) {
      for (const streamed of [true, false]) await load(target, "short", { turns: warmUp, concurrency: 16, streamed });
    }
    return await work(contestants);
  } finally {
    for (const { process } of contestants) await process.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
