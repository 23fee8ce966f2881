import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import connect from "postgres";
import { startPostgres, withDatabase } from "../real-postgres.ts";
import { activityHead, measureActivity } from "./activity/fan-out.ts";
import { analyticsHead, measureAnalytics } from "./analytics/measure.ts";
import { backgroundHead, measureBackground } from "./background.ts";
import { type Contestant, withContestants } from "./contestants.ts";
import { conversationHead, measureConversation } from "./conversation.ts";
import { cores, stepAside } from "./cores.ts";
import { measureTokens, measureTurns } from "./cpu.ts";
import { measureDelivery } from "./delivery.ts";
import { table } from "./figures.ts";
import { guardedHead, measureGuarded } from "./guarded.ts";
import { measureIdle } from "./idle.ts";
import { createLarge, largeParts } from "./large/large.ts";
import { type Line, sideBySide } from "./lines.ts";
import { measureMemory, memoryHead } from "./memory.ts";
import { acknowledgeHead, measureAcknowledging } from "./messengers/acknowledge.ts";
import { drainHead, measureDraining } from "./messengers/drain.ts";
import { Meter } from "./meter.ts";
import { measureObserving, observingHead } from "./observing.ts";
import { measureOverload, overloadHead } from "./overload.ts";
import { installPeers, type Peer } from "./peers.ts";
import { watchPostgres } from "./postgres-cpu.ts";
import { startScript } from "./processes.ts";
import { measureProfile, profileHead } from "./profile.ts";
import { measureReplicas, replicasHead } from "./replicas.ts";
import { backlogHead, measureBacklog } from "./room/drain.ts";
import { intakeHead, measureIntake } from "./room/intake.ts";
import { measureTick, tickHead } from "./room/tick.ts";
import { measureStart, startHead } from "./start.ts";
import { measureStatements, statementsHead } from "./statements.ts";
import { measureTools, toolsHead } from "./tools.ts";
import { measureTracing, tracingHead } from "./tracing/turns.ts";
import { measureTtft } from "./ttft.ts";

// The cost of the engine, compared to two floors that do the minimum of a chat endpoint. See docs/benchmarks.md.

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
    engine: { type: "string" },
    bound: { type: "boolean", default: false },
    database: { type: "string" },
    peers: { type: "boolean", default: false },
    scale: { type: "string", default: "1" },
    filled: { type: "string" },
    "no-build": { type: "boolean" },
  },
});
const rounds = Number(values.rounds);

if (!values["no-build"]) {
  execFileSync(process.execPath, [new URL("../../scripts/build.ts", import.meta.url).pathname], { stdio: "inherit" });
}
const installed = values.peers ? installPeers() : null;
stepAside();
const model = await startScript("model-server.ts");
const postgres = await startPostgres();
if (!postgres) console.error("No PostgreSQL for this platform: set TEST_DATABASE_URL to measure with one.");
const watched = postgres && (await watchPostgres(postgres.url));
const startedAt = performance.now();

/** A new database of this run, without a schema: the engine makes it. */
const fresh =
  postgres &&
  (async () => {
    const name = `bench_${randomBytes(6).toString("hex")}`;
    const sql = connect(postgres.url, { max: 1 });
    await sql.unsafe(`create database ${name}`);
    await sql.end();
    return withDatabase(postgres.url, name);
  });

type Database = () => Promise<string>;

interface Part {
  name: string;
  title: string;
  head: string[];
  measure(database: Database): Promise<string[][]>;
  /** Only on request. */
  unusual?: true;
}

const large = createLarge({ modelUrl: model.url, scale: Number(values.scale), filled: values.filled, watched, rounds });

/** Each of these has servers of its own. */
const parts: Part[] = [
  { name: "start", title: "Start", head: startHead, measure: () => measureStart(model.url, fresh) },
  {
    name: "statements",
    title: "Statements",
    head: statementsHead,
    measure: async (database) => measureStatements(model.url, await database()),
  },
  {
    name: "guarded",
    title: "Management calls",
    head: guardedHead,
    measure: async (database) => measureGuarded(model.url, await database()),
  },
  {
    name: "tools",
    title: "Skills and tools",
    head: toolsHead,
    measure: async (database) => measureTools(model.url, await database()),
  },
  {
    name: "conversation",
    title: "A long conversation",
    head: conversationHead,
    measure: async (database) => measureConversation(model.url, await database()),
  },
  {
    name: "memory",
    title: "Memory of open streams",
    head: memoryHead,
    measure: (makeDatabase) => withContestants({ modelUrl: model.url, makeDatabase, warmUp: 32 }, measureMemory),
  },
  {
    name: "overload",
    title: "Overload",
    head: overloadHead,
    measure: async (database) => measureOverload(model.url, await database()),
  },
  {
    name: "background",
    title: "Background work",
    head: backgroundHead,
    unusual: true,
    measure: async (database) => measureBackground(model.url, await database(), watched),
  },
  {
    name: "messengers",
    title: "Messengers: acknowledging",
    head: acknowledgeHead,
    unusual: true,
    measure: async (database) => measureAcknowledging(await database()),
  },
  {
    name: "messengers",
    title: "Messengers: draining",
    head: drainHead,
    unusual: true,
    measure: async (database) => measureDraining(await database()),
  },
  {
    name: "room",
    title: "Room: webhooks while the matcher's model stalls",
    head: intakeHead,
    unusual: true,
    measure: async (database) => measureIntake(await database()),
  },
  {
    name: "room",
    title: "Room: backlog",
    head: backlogHead,
    unusual: true,
    measure: async (database) => measureBacklog(await database(), watched),
  },
  {
    name: "room",
    title: "Room: a tick that finds nothing due",
    head: tickHead,
    unusual: true,
    measure: async (database) => measureTick(await database(), watched),
  },
  {
    name: "analytics",
    title: "Analytics over a million messages: PostgreSQL",
    head: analyticsHead,
    unusual: true,
    measure: async (database) => measureAnalytics(await database()),
  },
  {
    name: "analytics",
    title: "Analytics over a million messages: embedded",
    head: analyticsHead,
    unusual: true,
    measure: async () => measureAnalytics(null),
  },
  ...largeParts.map(({ title, head, measure }) => ({
    name: "large",
    title: `Large: ${title}`,
    head,
    unusual: true as const,
    measure: async (database: Database) => measure(await large.open(database)),
  })),
  {
    name: "replicas",
    title: "Replicas on one PostgreSQL",
    head: replicasHead,
    unusual: true,
    measure: async (database) => measureReplicas(model.url, await database(), watched),
  },
  { name: "activity", title: "Activity", head: activityHead, unusual: true, measure: measureActivity },
  {
    name: "observing",
    title: "The log and the metrics of a turn",
    head: observingHead,
    unusual: true,
    measure: async () => measureObserving(),
  },
  {
    name: "tracing",
    title: "Traced turns",
    head: tracingHead,
    unusual: true,
    measure: (database) => measureTracing(model.url, database),
  },
  {
    name: "profile",
    title: "Profile",
    head: profileHead,
    unusual: true,
    measure: (database) =>
      measureProfile(model.url, async () => ({
        DATABASE_URL: await database(),
        ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      })),
  },
];

/** The parts that compare the contestants in one table. */
const sides: Record<string, (contestants: Contestant[], meter: Meter, rounds: number) => Promise<Line[]>> = {
  idle: async (contestants) => measureIdle(contestants),
  turns: measureTurns,
  tokens: (contestants, meter, rounds) => measureTokens(contestants, meter, Math.max(1, rounds - 1)),
  ttft: (contestants) => measureTtft(model.url, contestants),
  delivery: (contestants, meter, rounds) => measureDelivery(contestants, meter, Math.max(1, rounds - 1)),
};

const usual = [...Object.keys(sides), ...parts.filter(({ unusual }) => !unusual).map(({ name }) => name)];
const chosen = new Set((values.only?.replace(/\bcpu\b/, "turns,tokens") ?? usual.join()).split(","));
const known = [...Object.keys(sides), ...parts.map(({ name }) => name)];

async function compare(database: string, makeDatabase: Database | null, peers: Peer[] = []): Promise<void> {
  const measures = Object.entries(sides).filter(([name]) => chosen.has(name));
  if (measures.length === 0 || (values.database ?? database).toLowerCase() !== database.toLowerCase()) return;
  const otherEngine = values.engine && resolve(values.engine);
  // The embedded database costs more time, and differs in little but the turn.
  const times = makeDatabase ? rounds : Math.max(1, rounds - 1);
  const { bound } = values;
  const kind = { modelUrl: model.url, makeDatabase, warmUp: 400, otherEngine, bound, peers };
  await withContestants(kind, async (contestants) => {
    const meter = new Meter(watched);
    const lines: Line[] = [];
    try {
      for (const [, measure] of measures) lines.push(...(await measure(contestants, meter, times)));
    } finally {
      const names = contestants.map(({ name }) => name);
      print(`Side by side, ${database}`, `${sideBySide(database, names, lines)}\n\n${meter.report()}`);
    }
  });
}

function print(title: string, found: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`\n${title} (after ${seconds} s, load ${loadavg()[0]?.toFixed(1)})\n\n${found}`);
}

try {
  const unknown = [...chosen].find((part) => !known.includes(part));
  if (unknown !== undefined) throw new Error(`There is no part "${unknown}": choose from cpu, ${known.join(", ")}`);
  const { node } = process.versions;
  const where = cores
    ? `servers on core ${cores.server}, all else on ${cores.rest.join(", ")}`
    : "cores not shared out";
  console.log(`Node ${node}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model}, ${where}`);
  if (fresh) await compare("PostgreSQL", fresh, installed?.peers);
  await compare("embedded", null);
  for (const { name, title, head, measure } of parts) {
    if (chosen.has(name) && fresh) print(title, table(head, await measure(fresh)));
  }
} finally {
  await large.close();
  await postgres?.stop();
  await model.stop();
  installed?.remove();
}
