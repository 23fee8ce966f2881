import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEngine } from "../engine.ts";
import { quantile } from "../figures.ts";
import { paced } from "../paced.ts";
import { cpuMs } from "../processes.ts";
import { countOf, createAgent, type Messenger, People } from "./people.ts";
import { openWorld, repliesTo, type World } from "./stand-ins.ts";

const [perSecond, seconds] = [100, 15];
/** Each person writes so often, with all the others between: a turn under way is superseded by the next message. */
const each = 4;
const people = (perSecond * seconds) / each;

export const acknowledgeHead = [
  "Database",
  "Answered 200",
  "Acknowledged, ms p50 / p99 / most",
  "`/health` meanwhile, ms p50 / p99",
  "CPU-ms a message, with the turns that it begins and ends",
  "Stored",
  "Turns that waited for the model",
  "Answered once the model spoke",
  "Replies a chat",
];

/** How fast messages are acknowledged while no model answers, and whether all are answered when one does. */
export async function measureAcknowledging(databaseUrl: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [database, url] of [
    ["PostgreSQL", databaseUrl],
    ["embedded", null],
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "agent-engine-messengers-"));
    const world = await openWorld();
    try {
      rows.push([
        database,
        ...(await acknowledge(world, url === null ? { DATA_DIR: directory } : { DATABASE_URL: url })),
      ]);
    } finally {
      await world.close();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return rows;
}

async function acknowledge(world: World, storage: Record<string, string>): Promise<string[]> {
  const { model } = world;
  const engine = await startEngine({ ...storage, ...world.env });
  let crowd: People | null = null;
  try {
    const token = await createAgent(engine.url, world);
    crowd = new People(engine.url, world);
    await warmUp(crowd);
    await sleep(3_000);
    model.hold();

    const watch = watchHealth(engine.url);
    const before = cpuMs(engine.pid);
    const answers = await crowdSpeaks(crowd);
    const usedMs = cpuMs(engine.pid) - before;
    const health = await watch.stop();
    const count = async (status?: string) =>
      (await countOf(engine.url, token, "telegram", status)) + (await countOf(engine.url, token, "slack", status));
    const stored = (await count()) - warmingUp;
    // The time of the last debounce.
    await sleep(3_000);
    const waiting = model.held();
    model.release();
    for (let idle = 0; idle < 20; idle += 1) {
      if ((await count("pending")) > 0) idle = 0;
      await sleep(100);
    }
    const done = (await count("done")) - warmingUp;
    const replies = repliesTo(world);
    const counts = [...replies].filter(([chat]) => chat < people).map(([, texts]) => texts.length);
    const took = answers.map(({ ms }) => ms);
    const good = answers.filter(({ status }) => status === 200).length;
    return [
      `${good} of ${answers.length}`,
      [0.5, 0.99, 1].map((share) => quantile(took, share).toFixed(0)).join(" / "),
      [0.5, 0.99].map((share) => quantile(health, share).toFixed(0)).join(" / "),
      (usedMs / answers.length).toFixed(1),
      `${stored} of ${answers.length}`,
      String(waiting),
      `${done} of ${answers.length}`,
      `${Math.min(...counts)}–${Math.max(...counts)}, in ${counts.length} of ${people}`,
    ];
  } finally {
    await crowd?.close();
    await engine.stop();
  }
}

/** Every fifth person writes over Slack. */
const messengerOf = (chat: number): Messenger => (chat % 5 === 4 ? "slack" : "telegram");

const warmingUp = 200;

async function warmUp(crowd: People): Promise<void> {
  for (let sent = 0; sent < warmingUp; sent += 10) {
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        const chat = 1_000_000 + sent + index;
        return crowd.say(messengerOf(chat), chat, 1);
      }),
    );
  }
}

const crowdSpeaks = (crowd: People) =>
  paced({ count: people * each, perSecond }, (index) => {
    const chat = index % people;
    return crowd.say(messengerOf(chat), chat, 1 + Math.floor(index / people));
  });

function watchHealth(url: string): { stop(): Promise<number[]> } {
  const took: number[] = [];
  let over = false;
  const probing = (async () => {
    while (!over) {
      const startedAt = performance.now();
      await (await fetch(`${url}/health`)).arrayBuffer();
      took.push(performance.now() - startedAt);
      await sleep(50);
    }
  })();
  return {
    async stop() {
      over = true;
      await probing;
      return took;
    },
  };
}
