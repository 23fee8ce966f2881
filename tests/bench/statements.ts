import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Target } from "./doors.ts";
import { createAgents, startEngine } from "./engine.ts";
import { forgetWork } from "./forget-work.ts";
import { load, turn } from "./load.ts";
import type { ReplyShape } from "./shapes.ts";
import { type Executed, type Tap, tap } from "./tap.ts";

const turns = 60;
const aftermathMs = 50;

export const statementsHead = ["Turns", "Before the first token", "After it", "Beside the turns", "Which"];

/**
 * Every statement of so many turns one after the other, as heard on the wire; without background work. One at another
 * rate than the turns is upkeep, such as the renewal of leases every five seconds.
 */
export async function measureStatements(modelUrl: string, databaseUrl: string): Promise<string[][]> {
  const wire = await tap(databaseUrl);
  const engine = await startEngine({
    DATABASE_URL: wire.url,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
    OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
  });
  try {
    const target = await createAgents(engine.url);
    await forgetWork(databaseUrl);
    await load(target, "brief", { turns: 100, concurrency: 16 });
    const count = (chatId: (index: number) => string) => countStatements(wire, target, "brief", { turns, chatId });
    return [
      row(`${turns} new conversations`, await count((index) => `statements-${index}`)),
      row(`${turns} turns of 10 conversations`, await count((index) => `statements-again-${index % 10}`)),
    ];
  } finally {
    await engine.stop();
    await wire.stop();
  }
}

export interface Counted {
  /** Statements per turn that run as often as turns do. */
  before: number;
  after: number;
  /** All others. */
  beside: number;
  /** By text. */
  times: Map<string, number>;
}

/** The statements of this many turns, one turn after the other. */
export async function countStatements(
  wire: Tap,
  target: Target,
  shape: ReplyShape,
  { turns, chatId }: { turns: number; chatId?: ((index: number) => string) | undefined },
): Promise<Counted> {
  const before: Executed[] = [];
  const after: Executed[] = [];
  wire.take();
  for (let index = 0; index < turns; index += 1) {
    const named = chatId ? { chatId: chatId(index) } : {};
    await turn(target, shape, { ...named, onFirst: () => void before.push(...wire.take()) });
    // The work after a turn must not be counted with the next one.
    await sleep(aftermathMs);
    after.push(...wire.take());
  }
  const times = new Map<string, number>();
  for (const { text } of [...before, ...after]) times.set(text, (times.get(text) ?? 0) + 1);
  const ofTurns = (executed: Executed[]) => executed.filter(({ text }) => (times.get(text) ?? 0) >= turns / 2).length;
  const [own, rest] = [ofTurns(before), ofTurns(after)];
  return {
    before: own / turns,
    after: rest / turns,
    beside: before.length + after.length - own - rest,
    times,
  };
}

function row(name: string, { before, after, beside, times }: Counted): string[] {
  const which = [...times].sort((a, b) => b[1] - a[1]).map(([text, count]) => `${count} × ${gist(text)}`);
  return [name, before.toFixed(2), after.toFixed(2), String(beside), which.join("; ")];
}

/** A beginning long enough to find the statement in the source. */
const gist = (text: string) => `\`${text.replace(/\s+/g, " ").replaceAll("|", "").trim().slice(0, 60)}…\``;
