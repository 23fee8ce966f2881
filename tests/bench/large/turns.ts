import { setTimeout as sleep } from "node:timers/promises";
import { median, quantile } from "../figures.ts";
import { type Load, load } from "../load.ts";
import { Meter } from "../meter.ts";
import type { PostgresCpu } from "../postgres-cpu.ts";
import type { ReplyShape } from "../shapes.ts";
import type { Side, Sides } from "./databases.ts";
import { longChat } from "./fill.ts";

const turns = 320;
/** So few that a busy machine refuses none. */
const concurrency = 4;

/** An idle session of PostgreSQL adds its numbers to those of its database within this time. */
const countedMs = 11_000;

export const turnsHead = [
  "Turn",
  "CPU-ms, small",
  "CPU-ms, large",
  "Ratio (≤ 1.2)",
  "PostgreSQL's own, small",
  "large",
  "Ratio",
  "Blocks, small",
  "large",
  "Ratio",
  "ms p50 / p99, small",
  "large",
];

interface Kind {
  name: string;
  shape: ReplyShape;
  chatId?(side: Side, round: number): Promise<(index: number) => string>;
}

const kinds: Kind[] = [
  { name: "new conversation, 100 tokens", shape: "whole" },
  { name: "goes on in a conversation of 2 to 18 messages", shape: "next", chatId: olderChats },
  {
    name: "goes on in a conversation of very many messages",
    shape: "short",
    chatId: async () => longChat,
  },
];

/** Conversations of the whole time, so that most blocks of theirs were not used for long. */
async function olderChats({ sql }: Side, round: number): Promise<(index: number) => string> {
  const found = await sql<{ chat: string }[]>`
    select substr(channel_id, 5) as chat from conversations
    where agent_id = (select id from agents where slug = 'next') and channel = 'web' and channel_id like 'api-chat-%'
    order by md5(ref || ${round}::text) limit ${turns}`;
  return (index) => found[index % found.length]?.chat ?? "";
}

/** The costs of a turn in each round, and how long the turns took. */
interface Found {
  server: number[];
  postgres: number[];
  /** Blocks of 8 KiB that PostgreSQL looked at, in memory or not. */
  blocks: number[];
  ms: number[];
}

/** The cost of turns on both databases, in turn. Ratios are of the least of the rounds. */
export async function measureLargeTurns(
  { small, large }: Sides,
  watched: PostgresCpu | null,
  rounds: number,
): Promise<string[][]> {
  const meter = new Meter(watched);
  const rows: string[][] = [];
  for (const kind of kinds) {
    const [less, more] = [emptyFound(), emptyFound()];
    // The first round lets V8 compile.
    for (let round = 0; round <= rounds; round += 1) {
      await measureRound(meter, small, { kind, round, found: round === 0 ? emptyFound() : less });
      await measureRound(meter, large, { kind, round, found: round === 0 ? emptyFound() : more });
    }
    const costs = (["server", "postgres", "blocks"] as const).flatMap((of) => compared(less[of], more[of]));
    rows.push([kind.name, ...costs, times(less), times(more)]);
  }
  return rows;
}

const emptyFound = (): Found => ({ server: [], postgres: [], blocks: [], ms: [] });

async function measureRound(
  meter: Meter,
  side: Side,
  { kind: { shape, chatId }, round, found }: { kind: Kind; round: number; found: Found },
): Promise<void> {
  const chats = await chatId?.(side, round);
  const wanted: Load = { turns, concurrency, streamed: false, ...(chats ? { chatId: chats } : {}) };
  const before = await blocksOf(side);
  const { server, postgres } = await meter.cost(side, async () => {
    found.ms.push(...(await load(side.target, shape, wanted)));
  });
  found.server.push(server / turns);
  if (postgres !== null) found.postgres.push(postgres / turns);
  found.blocks.push(((await blocksOf(side)) - before) / turns);
  // The tap keeps every statement until somebody takes it.
  side.wire.take();
}

async function blocksOf({ sql }: Side): Promise<number> {
  await sleep(countedMs);
  const [row] = await sql<{ blocks: number }[]>`
    select (blks_hit + blks_read)::float8 as blocks from pg_stat_database where datname = current_database()`;
  return row?.blocks ?? 0;
}

function compared(less: number[], more: number[]): string[] {
  const ratio = Math.min(...more) / Math.min(...less);
  return [shown(less), shown(more), Number.isFinite(ratio) ? `${ratio.toFixed(2)}×` : "–"];
}

const shown = (values: number[]) =>
  values.length === 0 ? "–" : `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;

const times = ({ ms }: Found) => `${median(ms).toFixed(0)} / ${quantile(ms, 0.99).toFixed(0)}`;
