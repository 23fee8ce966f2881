import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { forgetWork } from "./background.ts";
import { createAgents } from "./engine.ts";
import { median, shown } from "./figures.ts";
import { load } from "./load.ts";
import { percent, profileShares, totalShare } from "./profile.ts";
import type { EventCosts } from "./replay-events.ts";

export const eventHead = ["An event of a native stream", "CPU-ns", "more than without", "Bytes kept"];

/** What it costs to keep an event for those who come back, beside one that is made and sent alike but not kept. */
export async function measureEvents(): Promise<string[][]> {
  const child = fork(new URL("replay-events.ts", import.meta.url), { execArgv: ["--expose-gc"] });
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`replay-events.ts ended with ${code} before it was done`);
  });
  const [costs] = (await Promise.race([once(child, "message"), failed])) as [EventCosts];
  const { sent, kept, unread } = costs;
  const more = (median(kept.ns) - median(sent.ns)).toFixed(0);
  return [
    ["sent, not kept", shown(sent.ns), "–", sent.bytes.toFixed(0)],
    ["sent and kept", shown(kept.ns), more, kept.bytes.toFixed(0)],
    ["kept, read by nobody", shown(unread.ns), "–", unread.bytes.toFixed(0)],
  ];
}

const loads = {
  short: { turns: 800, concurrency: 16, door: "native" },
  long: { turns: 50, concurrency: 50, door: "native" },
} as const;

export const replayShareHead = ["Load, natively", "Keeping the events", "Making their text and data"];

/** Which share of the CPU time of native turns is the buffer's own, and which the events' that it holds. */
export async function measureReplayShare(modelUrl: string, makeDatabase: () => Promise<string>): Promise<string[][]> {
  const rows: string[][] = [];
  for (const shape of ["short", "long"] as const) {
    const databaseUrl = await makeDatabase();
    const env = {
      DATABASE_URL: databaseUrl,
      ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1`,
    };
    const shares = await profileShares(env, async (url) => {
      await forgetWork(databaseUrl);
      await load(await createAgents(url), shape, loads[shape]);
    });
    const of = (module: string) => {
      const functions = shares.get(`src/features/chat/replay/${module}`);
      // Too few samples is an answer, a module of another name is none.
      if (!functions) throw new Error(`The profile has no ${module}`);
      return percent(totalShare(functions));
    };
    rows.push([
      `${shape}: ${loads[shape].turns} turns, ${loads[shape].concurrency} at a time`,
      of("replay.ts"),
      of("wire.ts"),
    ]);
  }
  return rows;
}
