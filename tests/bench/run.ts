import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startPostgres, withDatabase } from "../real-postgres.ts";
import { withContestants } from "./contestants.ts";
import { conversationHead, measureConversation } from "./conversation.ts";
import { cpuHead, measureCpu } from "./cpu.ts";
import { table } from "./figures.ts";
import { guardedHead, measureGuarded } from "./guarded.ts";
import { measureMemory, memoryHead } from "./memory.ts";
import { startScript } from "./processes.ts";
import { measureProfile, profileHead } from "./profile.ts";
import { eventHead, measureEvents, measureReplayShare, replayShareHead } from "./replay.ts";
import { measureStart, startHead } from "./start.ts";
import { measureStatements, statementsHead } from "./statements.ts";
import { measureStreams, streamsHead } from "./stream-memory.ts";
import { measureTools, toolsHead } from "./tools.ts";
import { measureTtft, ttftHead } from "./ttft.ts";

// What the engine costs beside two floors that do the least possible. See docs/benchmarks.md.

const usual = ["cpu", "ttft", "memory", "start", "statements", "guarded", "tools", "conversation", "replay"];
const { values } = parseArgs({ options: { only: { type: "string" }, "no-build": { type: "boolean" } } });
const parts = new Set(values.only?.split(",") ?? usual);
const unknown = [...parts].find((part) => part !== "profile" && !usual.includes(part));
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}": choose from ${[...usual, "profile"].join(", ")}`);
  process.exit(2);
}

if (!values["no-build"]) {
  execFileSync(process.execPath, [new URL("../../scripts/build.ts", import.meta.url).pathname], { stdio: "inherit" });
}
const model = await startScript("model-server.ts");
const postgres = await startPostgres();
if (!postgres) console.error("No PostgreSQL for this platform: set TEST_DATABASE_URL to measure with one.");

/** Of this run's own, without a schema: the engine makes it. */
async function emptyDatabase(url: string): Promise<string> {
  const name = `bench_${randomBytes(6).toString("hex")}`;
  const { default: connect } = await import("postgres");
  const sql = connect(url, { max: 1 });
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return withDatabase(url, name);
}

const results = { cpu: [], ttft: [] } as Record<"cpu" | "ttft", string[][]>;

async function underLoad(database: string, databaseUrl: string | null): Promise<void> {
  if (!parts.has("cpu") && !parts.has("ttft")) return;
  // Until the compiler has seen the hot paths.
  await withContestants({ modelUrl: model.url, databaseUrl, warmUp: 400 }, async (contestants) => {
    if (parts.has("ttft")) results.ttft.push(...(await measureTtft(database, model.url, contestants)));
    if (parts.has("cpu")) results.cpu.push(...(await measureCpu(database, contestants)));
  });
}

function print(title: string, head: string[], rows: string[][]): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  if (rows.length > 0)
    console.log(`\n${title} (after ${seconds} s, load ${loadavg()[0]?.toFixed(1)})\n\n${table(head, rows)}`);
}

const startedAt = performance.now();
console.log(
  `Node ${process.versions.node}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model}`,
);
try {
  const fresh = postgres && (() => emptyDatabase(postgres.url));
  if (parts.has("start")) print("Start", startHead, await measureStart(model.url, fresh));
  if (parts.has("statements") && fresh) {
    print("Statements", statementsHead, await measureStatements(model.url, await fresh()));
  }
  if (parts.has("guarded") && fresh) print("Management", guardedHead, await measureGuarded(model.url, await fresh()));
  if (parts.has("tools") && fresh) print("Skills and tools", toolsHead, await measureTools(model.url, await fresh()));
  if (parts.has("conversation") && fresh) {
    print("A long conversation", conversationHead, await measureConversation(model.url, await fresh()));
  }
  if (parts.has("replay") && fresh) {
    print("Replay: an event", eventHead, await measureEvents());
    print("Replay: share of the CPU", replayShareHead, await measureReplayShare(model.url, fresh));
    print("Replay: memory of open streams", streamsHead, await measureStreams(model.url, fresh));
  }
  if (parts.has("memory") && fresh) {
    // Processes of their own: what a load leaves behind would take up the streams and hide them.
    const kind = { modelUrl: model.url, databaseUrl: await fresh(), warmUp: 32 };
    print("Memory", memoryHead, await withContestants(kind, measureMemory));
  }
  if (fresh) await underLoad("PostgreSQL", await fresh());
  await underLoad("embedded", null);
  print("Time to the first token, ms, p10 / p50 / p99", ttftHead, results.ttft);
  print("CPU, median (least–most)", cpuHead, results.cpu);
  if (parts.has("profile") && fresh) {
    const env = async () => ({ DATABASE_URL: await fresh(), ENCRYPTION_KEY: randomBytes(32).toString("hex") });
    print("Profile", profileHead, await measureProfile(model.url, env));
  }
} finally {
  await postgres?.stop();
  await model.stop();
}
