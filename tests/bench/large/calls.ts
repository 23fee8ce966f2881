import { median } from "../figures.ts";
import type { Side, Sides } from "./databases.ts";
import { Explainer } from "./explain.ts";
import { wordAt } from "./texts.ts";

const times = 5;

export const callsHead = ["Call", "ms, small", "ms, large", "Rows read, large", "Blocks, large", "Bound, ms", "Within"];

interface Call {
  name: string;
  path: string;
  /** In milliseconds. */
  bound: number;
}

/** Bounds in milliseconds: of usual pages, of seldom ones, and of reads over a long period. */
const [usual, seldom, longest] = [100, 1_000, 5_000];

function callsOf({ amounts: { conversations } }: Side): Call[] {
  const list = "/api/conversations";
  const long = `${list}/${encodeURIComponent("short:web:api-long-1")}/messages`;
  const day = new Date(Date.now() - 90 * 86_400_000).toISOString().slice(0, 10);
  const old = Math.floor(conversations / 3);
  return [
    { name: "agents, all", path: "/api/instances", bound: seldom },
    { name: "conversations", path: list, bound: usual },
    { name: "– from the 10,000th on", path: `${list}?offset=10000`, bound: usual },
    { name: "– the page in the middle", path: `${list}?offset=${Math.floor(conversations / 2)}`, bound: seldom },
    { name: "– of one channel", path: `${list}?channel=whatsapp`, bound: usual },
    { name: "– of a channel that has none", path: `${list}?channel=agent`, bound: seldom },
    { name: "– of the busiest agent", path: `${list}?instanceId=whole`, bound: usual },
    {
      name: "– of it, the page in the middle",
      path: `${list}?instanceId=whole&offset=${Math.floor(conversations / 30)}`,
      bound: seldom,
    },
    { name: "search: a word of one old conversation", path: `${list}?search=${old}`, bound: seldom },
    { name: "search: a word of one message in 30", path: `${list}?search=${wordAt(0)}`, bound: seldom },
    { name: "search: a word of one message in 300", path: `${list}?search=${wordAt(1_000)}`, bound: seldom },
    { name: "search: two frequent words", path: `${list}?search=${wordAt(3)}%20${wordAt(40)}`, bound: seldom },
    { name: "search: the word of one conversation, and a letter", path: `${list}?search=${old}%20b`, bound: seldom },
    { name: "search: no such word", path: `${list}?search=nothinghasthisword`, bound: seldom },
    {
      name: "search in the busiest agent: no such word",
      path: `${list}?instanceId=whole&search=nothinghasthisword`,
      bound: seldom,
    },
    { name: "messages of a long conversation, the newest", path: `${long}?order=desc`, bound: usual },
    { name: "– the page in the middle", path: `${long}?offset=500`, bound: usual },
    { name: "memories of the busiest agent", path: "/memories?instanceId=whole", bound: usual },
    { name: "– with a word", path: `/memories?instanceId=whole&search=${wordAt(1_000)}`, bound: seldom },
    { name: "audit log", path: "/api/audit-logs", bound: usual },
    { name: "– from the 10,000th on", path: "/api/audit-logs?offset=10000", bound: seldom },
    { name: "– with a text that none has", path: "/api/audit-logs?search=nothing", bound: longest },
    { name: "– its numbers", path: "/api/audit-logs/stats", bound: longest },
    { name: "events of an agent", path: "/api/instances/whole/room/events", bound: usual },
    { name: "analytics, 30 days", path: "/api/analytics", bound: longest },
    { name: "– 90 days", path: `/api/analytics?from=${day}`, bound: longest },
    { name: "– of the busiest agent", path: "/api/instances/whole/analytics", bound: seldom },
    { name: "– by agent", path: "/api/analytics/usage?by=agent", bound: longest },
    { name: "– by end user", path: "/api/analytics/usage?by=user", bound: longest },
    { name: "– what runs and failed", path: "/api/analytics/now", bound: seldom },
    { name: "– budgets", path: "/api/analytics/budgets", bound: seldom },
    { name: "the Health page", path: "/api/installation/health", bound: seldom },
  ];
}

/** The time of each call, and what PostgreSQL read for it. */
export async function measureCalls({ small, large }: Sides): Promise<string[][]> {
  const explainer = new Explainer(large.databaseUrl);
  const before = callsOf(small);
  const rows: string[][] = [];
  try {
    for (const [index, call] of callsOf(large).entries()) {
      const less = await timesOf(small, before[index] ?? call);
      const more = await timesOf(large, call);
      large.wire.take();
      await ask(large, call);
      const { rows: read, blocks } = await explainer.sum(large.wire.take());
      rows.push([
        call.name,
        shown(less),
        shown(more),
        Math.round(read).toLocaleString("en"),
        blocks.toLocaleString("en"),
        call.bound.toLocaleString("en"),
        more.ms <= call.bound && more.status === 200 ? "yes" : "NO",
      ]);
    }
    return rows;
  } finally {
    await explainer.close();
  }
}

interface Timed {
  ms: number;
  status: number;
}

const shown = ({ ms, status }: Timed) =>
  status === 200 ? ms.toFixed(ms < 10 ? 1 : 0) : `${status} after ${ms.toFixed(0)}`;

async function timesOf(side: Side, call: Call): Promise<Timed> {
  // The first one reads the blocks, and makes the server plan.
  const first = await ask(side, call);
  if (first.ms > 3_000) return first;
  const found: Timed[] = [];
  for (let time = 0; time < times; time += 1) found.push(await ask(side, call));
  return { ms: median(found.map(({ ms }) => ms)), status: Math.max(...found.map(({ status }) => status)) };
}

async function ask({ process, token }: Side, { path }: Call): Promise<Timed> {
  const begun = performance.now();
  const response = await fetch(process.url + path, { headers: { Authorization: `Bearer ${token}` } });
  await response.arrayBuffer();
  return { ms: performance.now() - begun, status: response.status };
}
