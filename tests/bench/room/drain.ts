import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import connect from "postgres";
import { copyDatabase } from "../copy-database.ts";
import { startEngine } from "../engine.ts";
import type { PostgresCpu } from "../postgres-cpu.ts";
import { cpuMs } from "../processes.ts";
import { type Asked, type Said, standInModel } from "../stand-in-model.ts";
import { createRoomAgent } from "./agent.ts";
import { ask, startTicker } from "./tick.ts";

const [agents, each] = [300, 4];
const all = agents * each;
/** This part of the entries warms the servers up, the rest is measured. */
const cold = 0.2;

/** With the policy `roomSlots` at its default, and with more slots. */
const kinds = [
  { replicas: 1, slots: 4 },
  { replicas: 2, slots: 4 },
  { replicas: 1, slots: 16 },
];

export const backlogHead = [
  "Replicas, slots of each",
  "Rooms, entries",
  "Entries a minute",
  "Turns",
  "Completed",
  "Given to one turn, once",
  "CPU-ms an entry",
  "PostgreSQL's own",
];

interface Drained {
  slots: number;
  replicas: number;
  watched: PostgresCpu | null;
  /** The number of times each entry was shown to the model. */
  shown: Map<string, number>;
}

/** Entries in the backlogs of many agents, which one and two replicas put before a model that marks them as completed. */
export async function measureBacklog(databaseUrl: string, watched: PostgresCpu | null): Promise<string[][]> {
  const shown = new Map<string, number>();
  const model = await standInModel((asked) => markAll(asked, shown));
  const env = { ENCRYPTION_KEY: randomBytes(32).toString("hex"), OPENAI_COMPATIBLE_BASE_URL: model.url };
  try {
    await fill({ ...env, DATABASE_URL: databaseUrl });
    const rows: string[][] = [];
    for (const { replicas, slots } of kinds) {
      shown.clear();
      const url = await copyDatabase(databaseUrl, `${replicas}_${slots}`);
      const found = await drain(url, env, { slots, replicas, watched, shown });
      rows.push([`${replicas}, ${slots}`, `${agents}, ${all}`, ...found]);
    }
    return rows;
  } finally {
    await model.close();
  }
}

/** Leaves the entries, and the scheduler's jobs of their Rooms. */
async function fill(env: Record<string, string>): Promise<void> {
  const engine = await startEngine(env);
  await createRoomAgent(engine.url);
  await engine.stop();
  const ticker = await startTicker(env);
  await ask(ticker, `/crowd/${agents}/${each}`);
  const { jobs } = await ask(ticker, "/ticks/1");
  await ticker.stop();
  if (jobs < agents) throw new Error(`The scheduler made ${jobs} jobs of ${agents} Rooms`);
}

async function drain(
  url: string,
  env: Record<string, string>,
  { slots, replicas, watched, shown }: Drained,
): Promise<string[]> {
  const sql = connect(url, { max: 1 });
  await sql`update installation set policies = ${sql.json({ roomSlots: slots })}`;
  const own = watched?.count(new URL(url).pathname.slice(1));
  const start = () => startEngine({ ...env, DATABASE_URL: url });
  const servers = await Promise.all(Array.from({ length: replicas }, start));
  const used = () => servers.reduce((sum, { pid }) => sum + cpuMs(pid), 0);
  const before = used();
  try {
    while (await isAnyLeft(sql)) await sleep(100);
    const [cpu, postgres] = [used() - before, own?.()];
    return [...(await judge(sql, shown)), ...[cpu, postgres].map(perEntry)];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await sql.end();
  }
}

async function isAnyLeft(sql: connect.Sql): Promise<boolean> {
  const [found] = await sql`
    select from event_backlog where status in ('pending', 'processing')
    union all select from jobs where kind = 'room.evaluate' and status = 'pending' limit 1`;
  return found !== undefined;
}

/** The speed, the number of turns, and the final states of the entries. */
async function judge(sql: connect.Sql, shown: ReadonlyMap<string, number>): Promise<string[]> {
  const completed = await sql<{ id: string; at: Date; attempts: number }[]>`
    select id, completed_at as at, attempts from event_backlog where status = 'completed' order by completed_at`;
  const [begun, last] = [completed[Math.floor(all * cold)], completed.at(-1)];
  const ms = begun && last ? last.at.getTime() - begun.at.getTime() : Number.NaN;
  const [turns] = await sql`
    select count(*)::int as count from turns join conversations on conversations.id = turns.conversation_id
    where conversations.channel = 'room'`;
  const once = completed.filter(({ id, attempts }) => attempts === 1 && shown.get(id) === 1);
  return [
    ((all * (1 - cold) * 60_000) / ms).toFixed(0),
    String(turns?.count),
    `${completed.length} of ${all}`,
    `${once.length} of ${all}`,
  ];
}

const perEntry = (ms: number | undefined) => (ms === undefined ? "–" : (ms / all).toFixed(2));

/** Marks the events of a turn as completed, and accepts each result of the tool. */
function markAll({ messages }: Asked, shown: Map<string, number>): Said {
  const last = messages.at(-1);
  if (last?.role !== "user") return "Done.";
  const eventIds = [...JSON.stringify(last.content).matchAll(/Event ([0-9a-f-]{36}) of /g)].flatMap(
    ([, id]) => id ?? [],
  );
  for (const id of eventIds) shown.set(id, (shown.get(id) ?? 0) + 1);
  return { tool: "markEventsCompleted", input: { eventIds, notes: "Ada looks at it." } };
}
