import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { createAgents, engineTarget, ownerToken, send, startEngine } from "./engine.ts";
import { median } from "./figures.ts";
import { forgetWork } from "./forget-work.ts";
import { load } from "./load.ts";
import type { PostgresCpu } from "./postgres-cpu.ts";
import { cpuMs, type ServerProcess } from "./processes.ts";

const counts = [1, 2, 4];
const turns = 1_200;
const concurrency = 32;
const rounds = 3;
const sampleMs = 20;

/** The agent's budget is a row that all its turns write. */
const budgets = [
  ["no budget", null],
  ["one agent's budget", 1_000_000_000],
] as const;

export const replicasHead = [
  "Replicas",
  "Turns a second",
  "beside one",
  "CPU-ms a turn, all replicas",
  "PostgreSQL's own",
  "Cores in use: replicas, PostgreSQL",
  "Connections",
  "Backends at work, mean / most",
  "of them waiting for a lock",
  "for a lightweight lock",
  "for a disk",
];

/** The same load before one, two and four servers on one PostgreSQL. */
export async function measureReplicas(
  modelUrl: string,
  databaseUrl: string,
  watched: PostgresCpu | null,
): Promise<string[][]> {
  const env = {
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: "5".repeat(64),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
  };
  const servers = [await startEngine(env)];
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const [first] = servers;
    if (!first) return [];
    await createAgents(first.url);
    await forgetWork(databaseUrl);
    const token = await ownerToken(first.url);
    const rows: string[][] = [];
    for (const [name, monthlyTokenBudget] of budgets) {
      await send(first.url, "PATCH", "/api/instances/whole", { monthlyTokenBudget }, token);
      let alone = 0;
      for (const count of counts) {
        while (servers.length < count) servers.push(await startEngine(env));
        const some = servers.slice(0, count);
        await offer(some, 400 * count);
        const found: Found[] = [];
        for (let round = 0; round < rounds; round += 1) found.push(await measure(some, { sql, databaseUrl, watched }));
        if (count === 1) alone = median(found.map(({ perSecond }) => perSecond));
        rows.push([`${count}, ${name}`, ...row(found, alone)]);
      }
    }
    return rows;
  } finally {
    for (const server of servers) await server.stop();
    await sql.end();
  }
}

/** Spread evenly, as a load balancer would; each server's callers are its own. */
async function offer(servers: readonly ServerProcess[], count: number): Promise<void> {
  const share = { turns: count / servers.length, concurrency: concurrency / servers.length, streamed: false };
  await Promise.all(servers.map(({ url }) => load(engineTarget(url), "whole", share)));
}

interface Found {
  perSecond: number;
  server: number;
  postgres: number;
  seconds: number;
  connections: number;
  samples: Sample[];
}

interface Sample {
  active: number;
  lock: number;
  lightweight: number;
  disk: number;
}

interface Measured {
  sql: postgres.Sql;
  databaseUrl: string;
  watched: PostgresCpu | null;
}

async function measure(servers: readonly ServerProcess[], { sql, databaseUrl, watched }: Measured): Promise<Found> {
  const used = () => servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const [before, own] = [used(), watched?.count(new URL(databaseUrl).pathname.slice(1))];
  const watch = watchBackends(sql);
  const begun = performance.now();
  await offer(servers, turns);
  const seconds = (performance.now() - begun) / 1000;
  const samples = await watch.stop();
  const [connections] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity where application_name = 'agent-engine' and datname = current_database()`;
  return {
    perSecond: turns / seconds,
    server: (used() - before) / turns,
    postgres: (own?.() ?? Number.NaN) / turns,
    seconds,
    connections: connections?.count ?? 0,
    samples,
  };
}

/** Looks at the sessions of the engine every few milliseconds; the looks cost PostgreSQL some CPU themselves. */
function watchBackends(sql: postgres.Sql): { stop(): Promise<Sample[]> } {
  const samples: Sample[] = [];
  let over = false;
  const looking = (async () => {
    while (!over) {
      const [sample] = await sql<Sample[]>`
        select count(*)::int as active, (count(*) filter (where wait_event_type = 'Lock'))::int as lock,
          (count(*) filter (where wait_event_type = 'LWLock'))::int as lightweight,
          (count(*) filter (where wait_event_type = 'IO'))::int as disk
        from pg_stat_activity
        where application_name = 'agent-engine' and datname = current_database() and state = 'active'`;
      if (sample) samples.push(sample);
      await sleep(sampleMs);
    }
  })();
  return {
    async stop() {
      over = true;
      await looking;
      return samples;
    },
  };
}

function row(found: readonly Found[], alone: number): string[] {
  const of = (name: "perSecond" | "server" | "postgres") => median(found.map(({ [name]: value }) => value));
  const cores = (name: "server" | "postgres") => median(found.map((one) => (one[name] * turns) / one.seconds / 1000));
  const samples = found.flatMap((one) => one.samples);
  const mean = (name: keyof Sample) => samples.reduce((sum, one) => sum + one[name], 0) / samples.length;
  return [
    of("perSecond").toFixed(0),
    `${(of("perSecond") / alone).toFixed(2)}×`,
    of("server").toFixed(2),
    of("postgres").toFixed(2),
    `${cores("server").toFixed(2)}, ${cores("postgres").toFixed(2)}`,
    String(Math.max(...found.map(({ connections }) => connections))),
    `${mean("active").toFixed(1)} / ${Math.max(...samples.map(({ active }) => active))}`,
    mean("lock").toFixed(2),
    mean("lightweight").toFixed(2),
    mean("disk").toFixed(2),
  ];
}
