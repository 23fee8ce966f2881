import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { keyOf } from "./doors.ts";
import { createAgents, ownerToken, send, startEngine } from "./engine.ts";
import { quantile } from "./figures.ts";
import { load } from "./load.ts";
import { type Answer, ask, type Offer } from "./overload-load.ts";
import { cpuMs, type ServerProcess } from "./processes.ts";
import { replyShapes } from "./shapes.ts";

const sustainedMs = 8_000;
const floodMs = 15_000;
const times = 5;
/** A caller that waits longer has left. */
const goodMs = 2_000;
const streams = 20;

export const overloadHead = [
  "Database",
  "Sustained, turns a second",
  "Offered",
  "Answered within 2 s, a second",
  "Goodput",
  "Goodput for the same CPU",
  "503, ms p50 / p99",
  "`/health`, ms p99",
  "Tokens late, ms p50 / p99",
  "Itself again after, s",
  "Another organization, 10 % of it, within 2 s",
];

/** The remaining throughput of a server that is offered five times its capacity. */
export async function measureOverload(modelUrl: string, databaseUrl: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [database, url] of [
    ["PostgreSQL", databaseUrl],
    ["embedded", null],
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "agent-engine-overload-"));
    const storage: Record<string, string> =
      url === null ? { DATA_DIR: directory } : { DATABASE_URL: url, ENCRYPTION_KEY: randomBytes(32).toString("hex") };
    const engine = await startEngine({
      ...storage,
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
      CHAT_REQUESTS_PER_MINUTE: "0",
    });
    try {
      rows.push([database, ...(await flood(engine))]);
    } finally {
      await engine.stop();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return rows;
}

async function flood({ url, pid }: ServerProcess): Promise<string[]> {
  const target = await createAgents(url);
  const others = await createOthers(url);
  const own = { slug: "short", key: keyOf("short") };
  await load(target, "short", { turns: 300, concurrency: 16 });
  await ask(new URL(url), others);
  const crowd = starter();
  const neighbours = starter();
  try {
    const idle = cpuMs(pid);
    const closed = await crowd.offer({ url, agents: [own], ms: sustainedMs, concurrency: 32 });
    const sustainedCpuMs = cpuMs(pid) - idle;
    const sustained = (good(closed).length / sustainedMs) * 1000;

    const watch = watchServer(url);
    await sleep(1_000);
    const calm = cpuMs(pid);
    const answers = await crowd.offer({ url, agents: [own], ms: floodMs, perSecond: sustained * times });
    const floodCpuMs = cpuMs(pid) - calm;
    const recoveredMs = await recovery(url, own);
    const { health, lateness } = await watch.stop();

    const flooding = crowd.offer({ url, agents: [own], ms: floodMs, perSecond: sustained * times });
    await sleep(1_000);
    const fair = await neighbours.offer({ url, agents: [others], ms: floodMs - 3_000, perSecond: sustained / 10 });
    await flooding;

    const goodput = (good(answers).length / floodMs) * 1000;
    const refused = answers.filter(({ status }) => status === 503).map(({ ms }) => ms);
    return [
      sustained.toFixed(0),
      (sustained * times).toFixed(0),
      goodput.toFixed(0),
      percent(goodput, sustained),
      // Without the CPU time that other processes of the machine take.
      percent(good(answers).length / floodCpuMs, good(closed).length / sustainedCpuMs),
      shares(refused),
      quantile(health, 0.99).toFixed(0),
      shares(lateness),
      (recoveredMs / 1000).toFixed(1),
      `${((good(fair).length / fair.length) * 100).toFixed(1)} %`,
    ];
  } finally {
    crowd.end();
    neighbours.end();
  }
}

const good = (answers: readonly Answer[]) => answers.filter(({ status, ms }) => status === 200 && ms <= goodMs);
const percent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(0)} %`;
const shares = (ms: readonly number[]) => [0.5, 0.99].map((share) => quantile(ms, share).toFixed(0)).join(" / ");

/** An agent of another organization. */
async function createOthers(url: string): Promise<Offer["agents"][number]> {
  const token = await ownerToken(url);
  const agent = { slug: "others", key: "bench-key-of-others" };
  await send(url, "POST", "/api/organizations", { slug: "others", name: "Others" }, token);
  await send(url, "PUT", "/api/me/organization", { slug: "others" }, token);
  const model = { provider: "openai-compatible", model: "short", fastModel: "short", memoryEnabled: false };
  await send(url, "POST", "/api/instances", { ...model, slug: agent.slug }, token);
  const channel = { enabled: true, config: { apiKey: agent.key } };
  await send(url, "PUT", `/api/instances/${agent.slug}/channels/web`, channel, token);
  return agent;
}

function starter(): { offer(wanted: Offer): Promise<Answer[]>; end(): void } {
  const child: ChildProcess = fork(new URL("overload-load.ts", import.meta.url));
  return {
    async offer(wanted) {
      child.send(wanted);
      const [answers] = await once(child, "message");
      return answers as Answer[];
    },
    end: () => void child.kill(),
  };
}

/** Running streams, and `/health`, as seen from this process, which does nothing else. */
function watchServer(url: string): { stop(): Promise<{ health: number[]; lateness: number[] }> } {
  const health: number[] = [];
  const lateness: number[] = [];
  let over = false;
  const probes = (async () => {
    while (!over) {
      health.push(await timed(`${url}/health`));
      await sleep(50);
    }
  })();
  const reading = Array.from({ length: streams }, async (_, index) => {
    await sleep(index * 12);
    await heldStream(url, lateness);
  });
  return {
    async stop() {
      over = true;
      await Promise.all([probes, ...reading]);
      return { health, lateness };
    },
  };
}

function timed(url: string): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      response.resume();
      response.once("end", () => resolve(performance.now() - startedAt));
    }).once("error", reject);
  });
}

/** The delay of each token of a stream, compared to the first one and the model's own pace. */
async function heldStream(url: string, lateness: number[]): Promise<void> {
  let first: number | null = null;
  let tokens = 0;
  await ask(new URL(url), { slug: "held", key: keyOf("held") }, (data) => {
    const now = performance.now();
    for (let token = data.toString("latin1").split("token ").length - 1; token > 0; token -= 1) {
      first ??= now;
      lateness.push(Math.max(0, now - first - tokens * replyShapes.held.everyMs));
      tokens += 1;
    }
  });
}

/** The time after the flood until every turn is answered within half a second again. */
async function recovery(url: string, agent: Offer["agents"][number]): Promise<number> {
  const startedAt = performance.now();
  const server = new URL(url);
  const asked: Promise<Answer>[] = [];
  for (let sent = 0; sent < 30; sent += 1) {
    asked.push(ask(server, agent));
    await sleep(100);
  }
  const late = (await Promise.all(asked)).filter(({ status, ms }) => status !== 200 || ms > 500);
  return Math.max(0, ...late.map(({ at }) => at + 100 - startedAt));
}
