import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { collectable } from "./contestants.ts";
import { completions, type Door, native, type Target } from "./doors.ts";
import { createAgents, startEngine } from "./engine.ts";
import { forgetWork } from "./forget-work.ts";
import { load, turn } from "./load.ts";
import { type Memory, memoryOf } from "./memory.ts";
import type { ServerProcess } from "./processes.ts";

const settleMs = 2_000;

const loads = [
  { shape: "held", streams: 200, name: "200 streams of 4 tokens a second" },
  { shape: "loud", streams: 50, name: "50 streams that have said 768 KiB each" },
] as const;

interface Client {
  name: string;
  door: Door;
  /** It reads nothing of the reply's body. */
  stalled: boolean;
}

const clients: Client[] = [
  { name: "completions, read: nothing is kept", door: completions, stalled: false },
  { name: "native, read", door: native, stalled: false },
  { name: "native, not read after the headers", door: native, stalled: true },
];

export const streamsHead = [
  "Load",
  "Client",
  "Idle, MiB",
  "With the streams, MiB",
  "KiB a stream, resident",
  "KiB a stream, in use",
];

/** What open streams take whose events are kept, with clients that read and with clients that don't. */
export async function measureStreams(modelUrl: string, makeDatabase: () => Promise<string>): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const rows: string[][] = [];
  try {
    // Engines of their own for each load: what the first one said stays for a minute.
    for (const { shape, streams, name } of loads) {
      const subjects: Subject[] = [];
      try {
        for (const client of clients) {
          const memoryPath = join(directory, `${shape}-${subjects.length}`);
          const databaseUrl = await makeDatabase();
          const engine = await startEngine({
            DATABASE_URL: databaseUrl,
            ENCRYPTION_KEY: randomBytes(32).toString("hex"),
            OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
            BENCH_MEMORY_PATH: memoryPath,
            NODE_OPTIONS: collectable,
          });
          subjects.push({
            client,
            engine,
            memoryPath,
            target: { ...(await createAgents(engine.url)), door: client.door },
          });
          await forgetWork(databaseUrl);
        }
        const measured = await measureLoad(subjects, shape, streams);
        rows.push(...measured.map((cells) => [name, ...cells]));
      } finally {
        for (const { engine } of subjects) await engine.stop();
      }
    }
    return rows;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Subject {
  client: Client;
  engine: ServerProcess;
  memoryPath: string;
  target: Target;
}

async function measureLoad(subjects: Subject[], shape: "held" | "loud", streams: number): Promise<string[][]> {
  const warmUp = { turns: 32, concurrency: 16 };
  for (const { target } of subjects) await load(target, "short", warmUp);
  await sleep(settleMs);
  const idle = await sample(subjects);
  const release = Promise.withResolvers<void>();
  const opened = subjects.flatMap(({ target, client }) =>
    Array.from({ length: streams }, () => open(target, shape, client, release.promise)),
  );
  let over = 0;
  const whole = Promise.all(opened.map(({ ended }) => ended.finally(() => (over += 1))));
  await Promise.race([Promise.all(opened.map(({ ready }) => ready)), whole]);
  await sleep(settleMs);
  const busy = await sample(subjects);
  if (over > 0) throw new Error(`${over} streams were over before they were measured`);
  // Those who stalled get all of it, too.
  release.resolve();
  await whole;

  return subjects.map(({ client }, index) => {
    const each = (kind: keyof Memory) =>
      (((busy[index]?.[kind] ?? 0) - (idle[index]?.[kind] ?? 0)) / streams).toFixed(0);
    const mib = (memory: Memory | undefined) => ((memory?.resident ?? 0) / 1024).toFixed(0);
    return [client.name, mib(idle[index]), mib(busy[index]), each("resident"), each("used")];
  });
}

const sample = (subjects: Subject[]) =>
  Promise.all(subjects.map(({ engine, memoryPath }) => memoryOf(engine, memoryPath)));

/** Ready when it is open, or, if the model says much at once and the client reads, when all of that was read. */
function open(target: Target, shape: "held" | "loud", { stalled }: Client, released: Promise<void>) {
  const ready = Promise.withResolvers<void>();
  const event = shape === "loud" && !stalled ? "onAll" : "onOpen";
  const ended = turn(target, shape, { [event]: ready.resolve, ...(stalled ? { readAfter: released } : {}) });
  return { ready: ready.promise, ended };
}
