import { randomBytes } from "node:crypto";
import { createAgents, startEngine } from "./engine.ts";
import { load, turn } from "./load.ts";
import { type Executed, tap } from "./tap.ts";

const turns = 200;

export const statementsHead = ["Turns", "Before the first token", "After it", "Beside the turns", "Which"];

/**
 * Every statement of so many turns one after the other, as heard on the wire. One that comes at another rate than the
 * turns do is upkeep, such as the renewal of leases every five seconds.
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
    await load(target, "brief", { turns: 100, concurrency: 16 });
    const count = async (chatId: (index: number) => string): Promise<Counted> => {
      const before: Executed[] = [];
      const after: Executed[] = [];
      wire.take();
      for (let index = 0; index < turns; index += 1) {
        await turn(target, "brief", { chatId: chatId(index), onFirst: () => void before.push(...wire.take()) });
        after.push(...wire.take());
      }
      return { before, after };
    };
    return [
      row(`${turns} new conversations`, await count((index) => `statements-${index}`)),
      row(`${turns} turns of 10 conversations`, await count((index) => `statements-again-${index % 10}`)),
    ];
  } finally {
    await engine.stop();
    await wire.stop();
  }
}

interface Counted {
  before: Executed[];
  after: Executed[];
}

function row(name: string, counted: Counted): string[] {
  const all = [...counted.before, ...counted.after];
  const times = new Map<string, number>();
  for (const { text } of all) times.set(text, (times.get(text) ?? 0) + 1);
  const ofTurns = ({ text }: Executed) => (times.get(text) ?? 0) >= turns / 2;
  const [before, after] = [counted.before.filter(ofTurns), counted.after.filter(ofTurns)];
  const which = [...times].sort((a, b) => b[1] - a[1]).map(([text, count]) => `${count} × ${gist(text)}`);
  return [
    name,
    (before.length / turns).toFixed(2),
    (after.length / turns).toFixed(2),
    String(all.length - before.length - after.length),
    which.join("; "),
  ];
}

/** Enough of a statement to find it in the source. */
const gist = (text: string) => `\`${text.replace(/\s+/g, " ").replaceAll("|", "").trim().slice(0, 60)}…\``;
