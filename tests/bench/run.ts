import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../real-postgres.ts";
import { createAgents, startEngine } from "./engine.ts";
import { load, type Target } from "./load.ts";
import { cpuMs, type ServerProcess, startScript } from "./processes.ts";
import { type ReplyShape, replyShapes } from "./shapes.ts";

// What a turn and a token cost in CPU time of the server's process, beside a bare relay that does the least possible.
// Both run at once, take turns under load, and sit idle while the other works. See docs/benchmarks.md.

const rounds = 3;
const loads = {
  short: { turns: 500, concurrency: 16, unit: "CPU-ms a turn (12 tokens, 16 at a time)" },
  long: { turns: 50, concurrency: 50, unit: "CPU-ms a 1000 tokens (50 streams)" },
} as const satisfies Record<ReplyShape, object>;

interface Contestant {
  process: ServerProcess;
  target: Target;
}

type Costs = Record<ReplyShape, number[]>;

/** CPU milliseconds per turn (short) or per 1000 tokens (long), of one round. */
async function measure({ process, target }: Contestant, shape: ReplyShape): Promise<number> {
  const { turns, concurrency } = loads[shape];
  const before = cpuMs(process.pid);
  await load(target, shape, turns, concurrency);
  const used = cpuMs(process.pid) - before;
  return shape === "short" ? used / turns : (used * 1000) / (turns * replyShapes[shape].tokens);
}

async function compare(relay: Contestant, engine: Contestant): Promise<{ relay: Costs; engine: Costs }> {
  const costs = { relay: { short: [], long: [] } as Costs, engine: { short: [], long: [] } as Costs };
  const contestants = [
    ["relay", relay],
    ["engine", engine],
  ] as const;
  // Until the compiler has seen the hot paths.
  for (const [, { target }] of contestants) await load(target, "short", 400, 16);
  for (let round = 0; round < rounds; round += 1) {
    for (const shape of ["short", "long"] as const) {
      for (const [name, contestant] of contestants) costs[name][shape].push(await measure(contestant, shape));
    }
  }
  return costs;
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const shown = (values: readonly number[]) => {
  const digits = median(values) < 10 ? 2 : 0;
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
};

async function onDatabase(name: string, modelUrl: string, databaseUrl: string | null): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-bench-"));
  const storage = (who: string): Record<string, string> =>
    databaseUrl === null
      ? { DATA_DIR: join(directory, who) }
      : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString("hex") };
  const started: ServerProcess[] = [];
  try {
    const relay = await startScript("relay.ts", { ...storage("relay"), MODEL_URL: modelUrl });
    started.push(relay);
    const engine = await startEngine({ ...storage("engine"), OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1` });
    started.push(engine);
    const costs = await compare(
      { process: relay, target: { url: relay.url, key: () => "none" } },
      { process: engine, target: await createAgents(engine) },
    );
    return (["short", "long"] as const).map((shape) => {
      const ratio = median(costs.engine[shape]) / median(costs.relay[shape]);
      return `| ${name} | ${loads[shape].unit} | ${shown(costs.relay[shape])} | ${shown(costs.engine[shape])} | ${ratio.toFixed(1)}× |`;
    });
  } finally {
    for (const server of started) await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

execFileSync(process.execPath, [new URL("../../scripts/build.ts", import.meta.url).pathname], { stdio: "inherit" });
const model = await startScript("model-server.ts");
const postgres = await startPostgres();
const rows: string[] = [];
try {
  if (postgres) rows.push(...(await onDatabase("PostgreSQL", model.url, postgres.url)));
  else console.error("No PostgreSQL for this platform: set TEST_DATABASE_URL to measure with one.");
  rows.push(...(await onDatabase("embedded", model.url, null)));
} finally {
  await postgres?.stop();
  await model.stop();
}
console.log(
  `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model}`,
);
console.log(`Median (least–most) of ${rounds} rounds.\n`);
console.log("| Database | Cost | Bare relay | Engine | Ratio |\n|---|---|---|---|---|");
console.log(rows.join("\n"));
