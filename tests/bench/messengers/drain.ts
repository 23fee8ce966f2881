import { setTimeout as sleep } from "node:timers/promises";
import connect from "postgres";
import { copyDatabase } from "../copy-database.ts";
import { startEngine } from "../engine.ts";
import type { ServerProcess } from "../processes.ts";
import { createAgent, People } from "./people.ts";
import { markOf, marksIn, openWorld, repliesTo, type World } from "./stand-ins.ts";

/** Together the largest number of messages that may wait for an agent. */
const [chats, each] = [2_500, 2];
const kills = 6;
const seed = 20;
/** The longest debounce of an agent. */
const debounceMs = 60_000;

export const drainHead = [
  "Two replicas",
  "Messages, chats",
  "Stored a second",
  "Answered after, s",
  "Messages a second",
  "Left or given up",
  "Chats with every message in a reply",
  "Replies that came twice",
  "– not marked that they may",
  "Marked",
  "Turns a chat",
];

/** Stored messages that two replicas answer: undisturbed, and while they are killed at random moments and restarted. */
export async function measureDraining(databaseUrl: string): Promise<string[][]> {
  const world = await openWorld();
  try {
    const storedPerSecond = await store(databaseUrl, world);
    const rows: string[][] = [];
    for (const [title, count] of [
      ["left alone", 0],
      [`killed ${kills} times`, kills],
    ] as const) {
      const copy = await copyDatabase(databaseUrl, String(count));
      world.telegram.sent.length = 0;
      world.telegram.requests.length = 0;
      const found = await drain(copy, world, count);
      rows.push([title, `${chats * each}, ${chats}`, storedPerSecond.toFixed(0), ...found]);
    }
    return rows;
  } finally {
    await world.close();
  }
}

/** Leaves messages that no process has begun to answer. */
async function store(databaseUrl: string, world: World): Promise<number> {
  const engine = await startEngine({ DATABASE_URL: databaseUrl, ...world.env });
  await createAgent(engine.url, world, debounceMs);
  const people = new People(engine.url, world);
  const startedAt = performance.now();
  let next = 0;
  const speak = async () => {
    while (next < chats * each) {
      const number = next++;
      const { status } = await people.say("telegram", 1 + (number % chats), 1 + Math.floor(number / chats));
      if (status !== 200) throw new Error(`A message got ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, speak));
  const ms = performance.now() - startedAt;
  await people.close();
  await engine.stop();
  const sql = connect(databaseUrl, { max: 1 });
  await sql`update jobs set run_at = now()`;
  await sql.end();
  return (chats * each * 1_000) / ms;
}

async function drain(url: string, world: World, count: number): Promise<string[]> {
  const start = () => startEngine({ DATABASE_URL: url, ...world.env });
  const replicas = await Promise.all([start(), start()]);
  const startedAt = performance.now();
  const sql = connect(url, { max: 1 });
  try {
    const { sent } = world.telegram;
    for (const [index, moment] of moments(count).entries()) {
      while (sent.length < moment) await sleep(5);
      await kill(replicas, index % 2, start);
    }
    while (await isAnyLeft(sql)) await sleep(100);
    return await judge(sql, world, performance.now() - startedAt);
  } finally {
    await sql.end();
    await Promise.all(replicas.map((replica) => replica.stop()));
  }
}

/** The numbers of replies after which a replica is killed. The same in each run. */
function moments(count: number): number[] {
  const random = generator(seed);
  return Array.from({ length: count }, () => Math.floor(random() * chats * 0.95)).sort((a, b) => a - b);
}

async function kill(replicas: ServerProcess[], index: number, start: () => Promise<ServerProcess>): Promise<void> {
  const victim = replicas[index];
  if (!victim) return;
  process.kill(victim.pid, "SIGKILL");
  replicas[index] = await start();
}

async function judge(sql: connect.Sql, world: World, ms: number): Promise<string[]> {
  const [found] = await sql`select
    (select count(*)::int from inbox where status <> 'done') as left_over,
    (select count(*)::int from outbox where status <> 'sent') as unsent,
    (select coalesce(json_agg(target || ' ' || body), '[]') from outbox where may_be_repeated) as marked,
    (select count(distinct turn_id)::int from inbox) as turns`;
  const replies = repliesTo(world);
  const marked = new Set<string>(found?.marked);
  let whole = 0;
  const repeated: string[] = [];
  for (let chat = 1; chat <= chats; chat += 1) {
    const texts = replies.get(chat) ?? [];
    const marks = new Set(texts.flatMap(marksIn));
    const isRepeated = (text: string, index: number) => texts.indexOf(text) < index;
    repeated.push(...texts.filter(isRepeated).map((text) => `${chat} ${text}`));
    if (Array.from({ length: each }, (_, index) => markOf(chat, index + 1)).every((mark) => marks.has(mark)))
      whole += 1;
  }
  return [
    (ms / 1_000).toFixed(1),
    ((chats * each * 1_000) / ms).toFixed(0),
    `${found?.left_over} messages, ${found?.unsent} replies`,
    `${whole} of ${chats}`,
    String(repeated.length),
    String(repeated.filter((reply) => !marked.has(reply)).length),
    String(marked.size),
    (Number(found?.turns) / chats).toFixed(2),
  ];
}

/** Whether a message is to be answered or a reply to be sent. */
async function isAnyLeft(sql: connect.Sql): Promise<boolean> {
  const [found] = await sql`
    select from jobs where status = 'pending' and (kind like 'inbox.%' or kind like 'outbox.%')
    union all select from inbox where status = 'pending' limit 1`;
  return found !== undefined;
}

/** Numbers from 0 to 1 that are the same in each run. */
function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
