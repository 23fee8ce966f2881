import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ownerToken } from "../engine.ts";
import { quantile } from "../figures.ts";
import { cpuMs, memoryKiB, type ServerProcess, startMeasured } from "../processes.ts";

const subscribers = 500;
const idle = 2_000;
/** The rhythms in which events reach all subscribers. */
const paces = [
  { name: "20 events a second, one by one", times: 200, each: 1, pauseMs: 50 },
  { name: "50 events a second, 10 at a time", times: 50, each: 10, pauseMs: 200 },
];

export const activityHead = ["", "Activity stream", "Floor: `response.write` to all"];

/** A server of streams. */
interface Side {
  url: string;
  /** The path at which it is told to emit events. */
  path: string;
  token: string;
}

/** The cost of the activity stream: for each delivery, for an idle stream, and without subscribers. */
export async function measureActivity(): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-activity-"));
  const owner = { OWNER_EMAIL: "owner@example.com", OWNER_PASSWORD: "bench-password" };
  const key = { ENCRYPTION_KEY: randomBytes(32).toString("hex") };
  const server = await startMeasured("activity/server.ts", { ...owner, ...key, DATA_DIR: directory });
  try {
    const [app, floor] = ((await ask(server, "/")) as number[]).map((port) => `http://127.0.0.1:${port}`);
    const own = { url: app ?? "", path: "/emit", token: await ownerToken(app ?? "") };
    const sides = [own, { ...own, url: floor ?? "", path: "/floor" }];
    const memory: string[] = [];
    for (const side of sides) memory.push(await measureIdle(server, side));
    const rows = [[`${idle} idle streams, KiB resident each`, ...memory]];
    for (const pace of paces) {
      const found: string[][] = [];
      for (const side of sides) found.push(await measureFanOut(server, side, pace));
      const kinds = ["delivered", "CPU-ms for 1,000 deliveries", "ms until it is there, p50 / p99"];
      rows.push(...kinds.map((kind, n) => [`${pace.name}: ${kind}`, ...found.map((side) => side[n] ?? "")]));
    }
    // Last, since its garbage would count as memory.
    rows.push(["emit with nobody there, CPU-ns", Number(await ask(server, "/cost")).toFixed(0), "–"]);
    return rows;
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function ask({ url }: ServerProcess, path: string): Promise<unknown> {
  return (await fetch(url + path)).json();
}

async function measureIdle(server: ServerProcess, side: Side): Promise<string> {
  // Memory that the first streams take is there for later ones.
  const crowd = await connect(side, subscribers, () => {});
  crowd.leave();
  await sleep(2_000);
  const before = memoryKiB(server.pid);
  const streams = await connect(side, idle, () => {});
  await sleep(2_000);
  const each = (memoryKiB(server.pid) - before) / idle;
  streams.leave();
  await sleep(2_000);
  return each.toFixed(1);
}

async function measureFanOut(
  server: ServerProcess,
  side: Side,
  { times, each, pauseMs }: (typeof paces)[number],
): Promise<string[]> {
  let deliveries = 0;
  let measuring = false;
  const late: number[] = [];
  const crowd = await connect(side, subscribers, (chunk) => {
    if (!measuring) return;
    const now = performance.timeOrigin + performance.now();
    for (const [, at] of chunk.matchAll(/"text":"at ([\d.]+)"/g)) {
      deliveries += 1;
      late.push(now - Number(at));
    }
  });
  await ask(server, `${side.path}/20/1/20`);
  await sleep(1_000);
  measuring = true;
  const before = cpuMs(server.pid);
  await ask(server, `${side.path}/${times}/${each}/${pauseMs}`);
  await sleep(500);
  const used = cpuMs(server.pid) - before;
  crowd.leave();
  await sleep(1_000);
  return [
    `${deliveries} of ${times * each * subscribers}`,
    ((used * 1_000) / deliveries).toFixed(1),
    [0.5, 0.99].map((share) => quantile(late, share).toFixed(1)).join(" / "),
  ];
}

/** Opens streams, some at a time; resolves when all are connected. */
async function connect({ url, token }: Side, count: number, hear: (chunk: string) => void) {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const open = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}` };
      const sent = request(`${url}/api/activity-stream/live`, { agent, headers }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`The stream answered ${response.statusCode}`));
        response
          .setEncoding("utf8")
          .on("data", hear)
          .on("error", () => {});
        resolve(response);
      });
      sent.on("error", reject).end();
    });
  const streams: IncomingMessage[] = [];
  while (streams.length < count) {
    streams.push(...(await Promise.all(Array.from({ length: Math.min(50, count - streams.length) }, open))));
  }
  return {
    leave() {
      for (const stream of streams) stream.destroy();
      agent.destroy();
    },
  };
}
