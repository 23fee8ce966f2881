import { randomBytes } from "node:crypto";
import postgres from "postgres";
import type { Target } from "./doors.ts";
import { createAgents, ownerToken, send, startEngine } from "./engine.ts";
import { median, shown } from "./figures.ts";
import { forgetWork } from "./forget-work.ts";
import { load, turn } from "./load.ts";
import { cpuMs } from "./processes.ts";
import { countStatements } from "./statements.ts";
import { tap } from "./tap.ts";

const rounds = 3;
const turns = 240;
const counted = 50;
const concurrency = 16;
const messages = 200;
/** Enough that no conversation gets its next message while it is still answered. */
const conversations = 3 * concurrency;

interface Kind {
  name: string;
  historyLimit: number;
  /** Absent: each turn begins a conversation. */
  chatId?: (index: number) => string;
}

const usualLimit = 100;
const chatId = (index: number) => `kept-${index % conversations}`;
const kinds: Kind[] = [
  { name: "new", historyLimit: usualLimit },
  { name: `${messages} messages, the last ${usualLimit} for the model (default)`, historyLimit: usualLimit, chatId },
  { name: `${messages} messages, all for the model`, historyLimit: messages, chatId },
];

export const conversationHead = [
  "Conversation",
  "CPU-ms a turn",
  "to the first",
  "Statements before the first token",
  "After it",
];

/** The cost of a short turn after a long history, compared to one without any. The kinds of conversation alternate. */
export async function measureConversation(modelUrl: string, databaseUrl: string): Promise<string[][]> {
  const wire = await tap(databaseUrl);
  const sql = postgres(databaseUrl, { max: 1 });
  const engine = await startEngine({
    DATABASE_URL: wire.url,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
  });
  try {
    const target = await createAgents(engine.url);
    const token = await ownerToken(engine.url);
    await forgetWork(databaseUrl);
    await fill(target, sql);
    const be = async ({ historyLimit }: Kind) => {
      await sql.unsafe(restored);
      await send(engine.url, "PATCH", "/api/instances/short", { historyLimit }, token);
      // The first turns after a change load the agent.
      await load(target, "short", { turns: concurrency, concurrency });
    };
    const costs = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
    // The first round lets V8 compile.
    for (let round = 0; round <= rounds; round += 1) {
      for (const kind of kinds) {
        await be(kind);
        const cost = await costOf(engine.pid, target, kind);
        await requireShown(sql, kind);
        if (round > 0) costs.get(kind)?.push(cost);
      }
    }
    const first = median([...costs.values()][0] ?? []);
    const rows: string[][] = [];
    for (const [kind, found] of costs) {
      await be(kind);
      const { before, after } = await countStatements(wire, target, "short", { turns: counted, chatId: kind.chatId });
      const ratio = `${(median(found) / first).toFixed(2)}×`;
      rows.push([kind.name, shown(found), ratio, before.toFixed(2), after.toFixed(2)]);
    }
    return rows;
  } finally {
    await engine.stop();
    await sql.end();
    await wire.stop();
  }
}

async function costOf(pid: number, target: Target, kind: Kind): Promise<number> {
  const before = cpuMs(pid);
  await load(target, "short", { turns, concurrency, ...(kind.chatId ? { chatId: kind.chatId } : {}) });
  return (cpuMs(pid) - before) / turns;
}

const kept = `select id from conversations where ref like 'short:web:api-kept-%'`;

/** Real conversations, but for their length: one real exchange, over and over. */
async function fill(target: Target, sql: postgres.Sql): Promise<void> {
  await turn(target, "paragraph", { chatId: "pattern" });
  await load(target, "short", { turns: conversations, concurrency, chatId });
  await sql.unsafe(`delete from messages where conversation_id in (${kept})`);
  await sql.unsafe(`
    insert into messages (id, conversation_id, turn_id, seq, role, content, search, steps, model_messages, metadata,
      prompt_tokens, completion_tokens)
    select gen_random_uuid(), c.id, m.turn_id, m.seq + 2 * n, m.role, m.content, m.search, m.steps, m.model_messages, m.metadata,
      m.prompt_tokens, m.completion_tokens
    from (${kept}) c, generate_series(0, ${messages / 2 - 1}) n, messages m
    where m.conversation_id = (select id from conversations where ref = 'paragraph:web:api-pattern')`);
  await sql.unsafe(restored);
  await sql.unsafe("analyze");
}

/** So that each measurement begins with the same conversations. */
const restored = `
  delete from messages where seq > ${messages} and conversation_id in (${kept});
  update conversations set last_seq = ${messages}, message_count = ${messages} where id in (${kept})`;

/** A history that the model is not shown would cost nothing. */
async function requireShown(sql: postgres.Sql, { name, historyLimit, chatId }: Kind): Promise<void> {
  if (!chatId) return;
  const [found] = await sql<{ tokens: number; exchange: number }[]>`
    select (select min(context_tokens) from conversations where ref like 'short:web:api-kept-%') as tokens,
      (select sum(length(content))::int from messages where conversation_id =
        (select id from conversations where ref = 'paragraph:web:api-pattern')) as exchange`;
  // The messages sent meanwhile are shorter.
  const least = (((historyLimit / 2) * (found?.exchange ?? 0)) / 4) * 0.8;
  if (!found || found.tokens < least) throw new Error(`${name}: the model saw ${found?.tokens} tokens, not ${least}`);
}
