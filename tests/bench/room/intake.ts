import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { startEngine } from "../engine.ts";
import { quantile } from "../figures.ts";
import { paced } from "../paced.ts";
import { cpuMs } from "../processes.ts";
import { type StandInModel, standInModel } from "../stand-in-model.ts";
import { countEvents, createRoomAgent, issue } from "./agent.ts";

const [perSecond, seconds] = [100, 8];
const [senders, mostMs] = [32, 4_000];
const warmingUp = 400;

export const intakeHead = [
  "Database",
  `Offered ${perSecond} a second: stored and answered \`ok\``,
  "Acknowledged, ms p50 / p99 / most",
  "CPU-ms an event",
  `${senders} senders: accepted a second`,
  "– refused",
  "– acknowledged, ms p50 / p99",
  "– CPU-ms an event",
  "Questions that waited for the model",
  "In the ledger",
  "Matched once the model spoke, a second",
];

interface Answer {
  ok: boolean;
  ms: number;
}

/** How fast the webhook of one event source acknowledges while no model answers the matcher, and at what cost. */
export async function measureIntake(databaseUrl: string): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [database, url] of [
    ["PostgreSQL", databaseUrl],
    ["embedded", null],
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "agent-engine-room-"));
    const model = await standInModel(() => "no");
    try {
      const storage = url === null ? { DATA_DIR: directory } : { DATABASE_URL: url };
      rows.push([database, ...(await take(model, { ...storage, ENCRYPTION_KEY: randomBytes(32).toString("hex") }))]);
    } finally {
      await model.close();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return rows;
}

async function take(model: StandInModel, storage: Record<string, string>): Promise<string[]> {
  const engine = await startEngine({ ...storage, OPENAI_COMPATIBLE_BASE_URL: model.url });
  const pool = new Pool(engine.url, { connections: 64 });
  try {
    const { webhookToken, token } = await createRoomAgent(engine.url);
    const count = (outcome?: string) => countEvents(engine.url, token, outcome);
    const bring = senderOf(pool, webhookToken);
    await paced({ count: warmingUp, perSecond }, bring);
    await untilMatched(count);
    const before = await count();
    model.hold();

    const calm = await costOf(engine.pid, () => paced({ count: perSecond * seconds, perSecond }, bring));
    const most = await costOf(engine.pid, () => crowd(bring));
    const accepted = most.answers.filter(({ ok }) => ok);
    const came = calm.answers.filter(({ ok }) => ok).length + accepted.length;
    const stored = (await count()) - before;
    const waiting = model.held();
    const releasedAt = performance.now();
    model.release();
    await untilMatched(count);
    const matched = ((await count("no-match")) - before) / ((performance.now() - releasedAt) / 1_000);
    return [
      `${calm.answers.filter(({ ok }) => ok).length} of ${calm.answers.length}`,
      times(calm.answers, [0.5, 0.99, 1]),
      (calm.cpuMs / calm.answers.length).toFixed(1),
      (accepted.length / (mostMs / 1_000)).toFixed(0),
      String(most.answers.length - accepted.length),
      times(accepted, [0.5, 0.99]),
      (most.cpuMs / most.answers.length).toFixed(1),
      String(waiting),
      `${stored} of ${came}`,
      matched.toFixed(0),
    ];
  } finally {
    await pool.close();
    await engine.stop();
  }
}

/** Sends one event; a refusal is returned, and any other answer is an error. */
function senderOf(pool: Pool, webhookToken: string): (number: number) => Promise<Answer> {
  const headers = { "Content-Type": "application/json" };
  return async (number) => {
    const body = JSON.stringify(issue(number));
    const startedAt = performance.now();
    const answer = await pool.request({ method: "POST", path: `/webhooks/${webhookToken}`, headers, body });
    const text = await answer.body.text();
    const ms = performance.now() - startedAt;
    if (answer.statusCode === 503) return { ok: false, ms };
    if (answer.statusCode !== 200 || text !== '{"ok":true}') throw new Error(`${answer.statusCode} ${text}`);
    return { ok: true, ms };
  };
}

/** Each sender sends the next event when the last one is answered. */
async function crowd(bring: (number: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  const endAt = performance.now() + mostMs;
  const work = async () => {
    while (performance.now() < endAt) answers.push(await bring(answers.length));
  };
  await Promise.all(Array.from({ length: senders }, work));
  return answers;
}

async function costOf(pid: number, work: () => Promise<Answer[]>): Promise<{ answers: Answer[]; cpuMs: number }> {
  const before = cpuMs(pid);
  const answers = await work();
  return { answers, cpuMs: cpuMs(pid) - before };
}

async function untilMatched(count: (outcome: string) => Promise<number>): Promise<void> {
  while ((await count("pending")) > 0) await sleep(200);
}

const times = (answers: readonly Answer[], shares: readonly number[]) => {
  const took = answers.map(({ ms }) => ms);
  return shares.map((share) => quantile(took, share).toFixed(0)).join(" / ");
};
