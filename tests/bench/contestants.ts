import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgents, startEngine } from "./engine.ts";
import { load, type Target } from "./load.ts";
import { type ServerProcess, startScript } from "./processes.ts";

export const names = ["relay", "streamText", "engine"] as const;

export type Name = (typeof names)[number];

export interface Contestant {
  process: ServerProcess;
  target: Target;
  /** Where it writes what it uses; see collect.ts. */
  memoryPath: string;
}

export type Contestants = Record<Name, Contestant>;

/** Garbage collection on demand; costs nothing while nobody asks. */
export const collectable = `--expose-gc --import=${new URL("collect.ts", import.meta.url).href}`;

/** The engine and both floors on one kind of database, after so many turns each; ended when `work` is. */
export async function withContestants<T>(
  { modelUrl, databaseUrl, warmUp }: { modelUrl: string; databaseUrl: string | null; warmUp: number },
  work: (contestants: Contestants) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const memoryPath = (who: Name) => join(directory, `${who}-memory`);
  const environment = (who: Name): Record<string, string> => ({
    ...storage(who),
    BENCH_MEMORY_PATH: memoryPath(who),
    NODE_OPTIONS: collectable,
  });
  const storage = (who: Name): Record<string, string> =>
    databaseUrl === null
      ? { DATA_DIR: join(directory, who) }
      : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString("hex") };
  const started: ServerProcess[] = [];
  const floor = async (who: Name, script: string): Promise<Contestant> => {
    const process = await startScript(script, { ...environment(who), MODEL_URL: modelUrl });
    started.push(process);
    return { process, target: { url: process.url, key: () => "none" }, memoryPath: memoryPath(who) };
  };
  try {
    const relay = await floor("relay", "relay.ts");
    const streamText = await floor("streamText", "stream-text.ts");
    const engine = await startEngine({
      ...environment("engine"),
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    });
    started.push(engine);
    const contestants = {
      relay,
      streamText,
      engine: { process: engine, target: await createAgents(engine.url), memoryPath: memoryPath("engine") },
    };
    for (const name of names) await load(contestants[name].target, "short", { turns: warmUp, concurrency: 16 });
    return await work(contestants);
  } finally {
    for (const server of started) await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}
