import { setTimeout as sleep } from "node:timers/promises";
import { startEngine } from "../engine.ts";
import { median } from "../figures.ts";
import type { Executed } from "../tap.ts";
import type { Side, Sides } from "./databases.ts";
import { Explainer, type Work } from "./explain.ts";

const starts = 3;
/** Three ticks, of which the first one looks for everything that comes up once an hour. */
const heardMs = 35_000;
const slowest = 5;

export const upkeepHead = ["Work", "small", "large", "Rows read, large", "Blocks, large", "Bound", "Within"];

/** A start, the upkeep of a server without load, and deletions. */
export async function measureUpkeep({ small, large }: Sides): Promise<string[][]> {
  const [less, more] = [await startMs(small), await startMs(large)];
  const rows = [
    ["start until it listens, ms", less.toFixed(0), more.toFixed(0), "–", "–", "1.5×", said(more <= 1.5 * less)],
  ];
  rows.push(...(await upkeepOf(small, large)));
  rows.push(...(await deletions(small, large)));
  return rows;
}

const said = (holds: boolean) => (holds ? "yes" : "NO");

async function startMs({ env }: Side): Promise<number> {
  const found: number[] = [];
  for (let time = 0; time < starts; time += 1) {
    const begun = performance.now();
    const engine = await startEngine(env);
    found.push(performance.now() - begun);
    await engine.stop();
  }
  return median(found);
}

interface Statement {
  gist: string;
  times: number;
  work: Work;
}

/** Every statement that an idle server runs, once explained and weighed with how often it ran. */
async function heard({ env, wire, databaseUrl, process }: Side): Promise<Statement[]> {
  await process.stop();
  wire.take();
  const engine = await startEngine(env);
  await sleep(heardMs);
  await engine.stop();
  const byText = Map.groupBy(wire.take(), ({ text }) => text);
  const explainer = new Explainer(databaseUrl);
  const found: Statement[] = [];
  try {
    for (const [text, executed] of byText) {
      const work = await explainer.sum(executed.slice(0, 1));
      if (work.blocks > 0) found.push({ gist: gistOf(text), times: executed.length, work });
    }
  } finally {
    await explainer.close();
  }
  return found.sort((a, b) => b.work.ms - a.work.ms);
}

const gistOf = (text: Executed["text"]) => `\`${text.replace(/\s+/g, " ").replaceAll("|", "").trim().slice(0, 90)}…\``;

async function upkeepOf(small: Side, large: Side): Promise<string[][]> {
  const [less, more] = [await heard(small), await heard(large)];
  const all = (statements: Statement[], of: keyof Work) =>
    statements.reduce((sum, { work, times }) => sum + work[of] * times, 0);
  const number = (value: number) => Math.round(value).toLocaleString("en");
  const total = all(more, "ms");
  return [
    [
      "start and three ticks, ms in all",
      all(less, "ms").toFixed(0),
      total.toFixed(0),
      number(all(more, "rows")),
      number(all(more, "blocks")),
      "10,000",
      said(total <= 10_000),
    ],
    ...more.slice(0, slowest).map(({ gist, times, work }) => {
      const its = less.find((one) => one.gist === gist);
      const ms = its ? its.work.ms.toFixed(1) : "–";
      return [
        `${times} × ${gist}`,
        ms,
        work.ms.toFixed(1),
        number(work.rows),
        number(work.blocks),
        "1,000",
        said(work.ms <= 1_000),
      ];
    }),
  ];
}

/** Deletes over the API: a conversation of a usual size and one of very many messages, and agents. */
async function deletions(small: Side, large: Side): Promise<string[][]> {
  const rows: string[][] = [];
  const kinds = [
    { name: "a conversation of 18 messages", path: conversationOf(18), bound: 100 },
    { name: "a conversation of very many messages", path: conversationOf(null), bound: 5_000 },
    { name: "an agent with 10 conversations", path: agentOf(10), bound: 1_000 },
    { name: "the agent with most conversations", path: agentOf(null), bound: 60_000 },
  ];
  for (const side of [small, large]) side.process = await startEngine(side.env);
  for (const { name, path, bound } of kinds) {
    const [less, more] = [await remove(small, path), await remove(large, path)];
    rows.push([
      `delete ${name}, ms`,
      less.text,
      more.text,
      "–",
      "–",
      bound.toLocaleString("en"),
      said(more.ms <= bound),
    ]);
  }
  return rows;
}

type Find = (side: Side) => Promise<{ path: string; size: number }>;

/** Null: the longest. */
const conversationOf =
  (messages: number | null): Find =>
  async ({ sql }) => {
    const [found] = await sql<{ ref: string; size: number }[]>`
    select ref, message_count as size from conversations where ${messages === null ? sql`channel_id like 'api-long-%'` : sql`message_count = ${messages}`}
    order by message_count desc, ref limit 1`;
    if (!found) throw new Error("No such conversation");
    return { path: `/api/conversations/${encodeURIComponent(found.ref)}`, size: found.size };
  };

/** Null: most, but for those that the turns need. */
const agentOf =
  (conversations: number | null): Find =>
  async ({ sql }) => {
    const [found] = await sql<{ slug: string; size: number }[]>`
    select slug, count(*)::int as size from agents join conversations on agent_id = agents.id
    where slug not in ('whole', 'next', 'short') group by slug
    order by ${conversations === null ? sql`2 desc` : sql`abs(count(*) - ${conversations})`} limit 1`;
    if (!found) throw new Error("No such agent");
    return { path: `/api/instances/${found.slug}`, size: found.size };
  };

async function remove(side: Side, find: Find): Promise<{ ms: number; text: string }> {
  const { path, size } = await find(side);
  const begun = performance.now();
  const response = await fetch(side.process.url + path, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${side.token}` },
  });
  const text = await response.text();
  if (!response.ok) console.error(`DELETE ${path}: ${response.status} ${text}`);
  const ms = performance.now() - begun;
  const status = response.ok ? "" : `, status ${response.status}`;
  return {
    ms: response.ok ? ms : Number.POSITIVE_INFINITY,
    text: `${ms.toFixed(0)} (${size.toLocaleString("en")}${status})`,
  };
}
