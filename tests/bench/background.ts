import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { completions, type Door, keyOf, type Target } from "./doors.ts";
import { ownerToken, send, startEngine } from "./engine.ts";
import { median, quantile } from "./figures.ts";
import { load } from "./load.ts";
import { settle } from "./meter.ts";
import type { PostgresCpu } from "./postgres-cpu.ts";
import { cpuMs, type ServerProcess, startMeasured } from "./processes.ts";

const conversations = 5_000;
/** Before measuring: the code that a long-lived server runs is compiled then. */
const warmUp = 1_500;
/** The model's price, turns and turns with background work alternate, so that other load on the machine affects all. */
const blocks = 5;
const ofBlock = conversations / blocks;
/** Turns that background work must not hold up. */
const turns = 2_000;
const concurrency = 16;
const [rounds, ofRound] = [20, 200];
const shape = "whole";
/** Turns of both recall memories; turns of the agent without a fast model leave no background work. */
const [slug, plainSlug] = ["remembering", "recalling"];

export const backgroundHead = [
  "Database",
  "Turns a second, ms p50 / p99",
  "The same beside background work",
  "CPU-ms a turn",
  "CPU-ms of the background a conversation",
  "– of which the model's price",
  "Beside it, to the turn",
  "PostgreSQL's own",
  "Conversations begun a second",
  "Background done after, s",
  `Background of ${ofRound} conversations, round 1 and ${rounds}: CPU-ms each`,
];

/** The background work after turns in new conversations, one call for title and memories: its cost and delay. */
export async function measureBackground(
  modelUrl: string,
  databaseUrl: string,
  watched: PostgresCpu | null,
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const [database, url] of [
    ["PostgreSQL", databaseUrl],
    ["embedded", null],
  ] as const) {
    const directory = await mkdtemp(join(tmpdir(), "agent-engine-background-"));
    const storage: Record<string, string> =
      url === null ? { DATA_DIR: directory } : { DATABASE_URL: url, ENCRYPTION_KEY: randomBytes(32).toString("hex") };
    const floor = await startMeasured("model-price.ts", { MODEL_URL: modelUrl });
    const engine = await startEngine({
      ...storage,
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    });
    try {
      const own = url === null ? null : watched;
      const countPostgres = () => own?.count(new URL(url ?? "").pathname.slice(1)) ?? (() => 0);
      const background = new Background(engine, modelUrl);
      const measured = await measure(background, floor, countPostgres);
      rows.push([database, ...measured, url === null ? await measureRounds(background) : "–"]);
    } finally {
      await engine.stop();
      await floor.stop();
      await rm(directory, { recursive: true, force: true });
    }
  }
  return rows;
}

/** CPU-milliseconds. */
interface Cost {
  server: number;
  postgres: number;
}

async function measure(
  background: Background,
  floor: ServerProcess,
  countPostgres: () => () => number,
): Promise<string[]> {
  const { engine, plain } = background;
  /** For each conversation of a block. */
  const costOf = async (work: () => Promise<unknown>): Promise<Cost> => {
    const [before, own] = [cpuMs(engine.pid), countPostgres()];
    await work();
    await settle(engine.pid, 500);
    return { server: (cpuMs(engine.pid) - before) / ofBlock, postgres: own() / ofBlock };
  };
  /** Per conversation, for a process that only makes the model calls of background work. */
  const priceOf = async (count: number): Promise<number> => {
    const before = cpuMs(floor.pid);
    await fetch(`${floor.url}/${count}`);
    background.expectAsked(count);
    return (cpuMs(floor.pid) - before) / count;
  };
  const takeTurns = (count: number) => load(plain, shape, { turns: count, concurrency, streamed: false });

  await background.makeAgent();
  await priceOf(warmUp);
  await takeTurns(warmUp);
  await background.begin(warmUp);
  await background.drain();
  const [prices, turnsOnly, followed]: [number[], Cost[], Cost[]] = [[], [], []];
  let begunMs = 0;
  for (let block = 0; block < blocks; block += 1) {
    prices.push(await priceOf(ofBlock));
    turnsOnly.push(await costOf(() => takeTurns(ofBlock)));
    const withWork = async () => {
      const startedAt = performance.now();
      await background.begin(ofBlock);
      begunMs += performance.now() - startedAt;
      await background.drain();
    };
    followed.push(await costOf(withWork));
  }
  const price = median(prices);
  const turn = median(turnsOnly.map(({ server }) => server));
  const more = (part: keyof Cost) => followed.map((cost, block) => cost[part] - (turnsOnly[block]?.[part] ?? 0));
  const of = median(more("server"));
  const ownOf = median(more("postgres"));

  const alone = await pace(plain, turns);
  await background.begin(conversations);
  const [doneMs, beside] = await Promise.all([background.drain(), pace(plain, turns)]);
  return [
    ...[alone, beside, turn.toFixed(2), of.toFixed(2), price.toFixed(2)],
    `${(((of - price) / turn) * 100).toFixed(0)} %`,
    ownOf > 0 ? ownOf.toFixed(2) : "–",
    ...[((conversations / begunMs) * 1000).toFixed(0), (doneMs / 1000).toFixed(1)],
  ];
}

/** The cost of the same work at first, and after its tables were filled and emptied many times. */
async function measureRounds(background: Background): Promise<string> {
  const costs: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await background.begin(ofRound);
    const before = cpuMs(background.engine.pid);
    await background.drain();
    // The model was called, and its answer is not stored yet.
    await settle(background.engine.pid, 500);
    costs.push(((cpuMs(background.engine.pid) - before) / ofRound).toFixed(2));
  }
  return `${costs[0]}, ${costs.at(-1)}`;
}

/** This many turns as fast as possible. */
async function pace(target: Target, turns: number): Promise<string> {
  const startedAt = performance.now();
  const took = await load(target, shape, { turns, concurrency, streamed: false });
  const perSecond = (turns / (performance.now() - startedAt)) * 1000;
  return `${perSecond.toFixed(0)}, ${quantile(took, 0.5).toFixed(0)} / ${quantile(took, 0.99).toFixed(0)}`;
}

function targetOf({ url }: ServerProcess, slug: string): Target {
  const body: Door["body"] = (question) => ({ ...completions.body(question), model: slug });
  const headers = () => ({ Authorization: `Bearer ${keyOf(slug)}` });
  return { url, door: { ...completions, body, headers } };
}

/** Conversations that leave background work, whose progress is read from the model's number of calls. */
export class Background {
  readonly engine: ServerProcess;
  readonly plain: Target;
  readonly #remembering: Target;
  readonly #modelUrl: string;
  /** The number of model calls once all due work is done. */
  #due = 0;

  constructor(engine: ServerProcess, modelUrl: string) {
    this.engine = engine;
    this.#modelUrl = modelUrl;
    this.plain = targetOf(engine, plainSlug);
    this.#remembering = targetOf(engine, slug);
  }

  async makeAgent(): Promise<void> {
    const { url } = this.engine;
    const token = await ownerToken(url);
    const agent = { provider: "openai-compatible", model: shape, memoryEnabled: true };
    for (const made of [
      { ...agent, slug, fastModel: shape },
      { ...agent, slug: plainSlug },
    ]) {
      await send(url, "POST", "/api/instances", made, token);
      const config = { apiKey: keyOf(made.slug) };
      await send(url, "PUT", `/api/instances/${made.slug}/channels/web`, { enabled: true, config }, token);
    }
    this.#due = await this.#asked();
  }

  /** Adds model calls made for something else. */
  expectAsked(count: number): void {
    this.#due += count;
  }

  async begin(count: number): Promise<void> {
    await load(this.#remembering, shape, { turns: count, concurrency, streamed: false });
    this.#due += count;
  }

  /** Waits for the model calls for titles and memories of all conversations; answers the time in ms. */
  async drain(): Promise<number> {
    const startedAt = performance.now();
    while ((await this.#asked()) < this.#due) await sleep(20);
    return performance.now() - startedAt;
  }

  async #asked(): Promise<number> {
    return Number(await (await fetch(`${this.#modelUrl}/described`)).text());
  }
}
