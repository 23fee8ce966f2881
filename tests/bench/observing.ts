import { openSync, writeSync } from "node:fs";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { createLog } from "../../src/adapters/node/log/log.ts";
import { createMeters } from "../../src/adapters/node/meters.ts";
import { measureTurns } from "../../src/features/metrics/turns.ts";
import { turnLog } from "../../src/features/turns/end/turn-log.ts";
import type { TurnEnding, TurnObserver } from "../../src/turn/observers.ts";
import type { TurnEvent, TurnOutcome } from "../../src/turn/types.ts";
import { startedTurn } from "../turns.ts";

export const observingHead = ["What is told of each turn", "CPU-µs a turn"];

const [rounds, turns] = [7, 4_000];

const turn = startedTurn();

/** A turn of two steps with one call of a tool, and 100 tokens of text. */
const events: TurnEvent[] = [
  { type: "step-start", index: 0, stepType: "initial" },
  { type: "tool-call", id: "call-1", name: "currentTime", args: {} },
  { type: "tool-result", id: "call-1", name: "currentTime", ok: true, durationMs: 3, result: "noon" },
  { type: "step-finish", index: 0, finishReason: "tool-calls", usage: { promptTokens: 900, completionTokens: 20 } },
  { type: "step-start", index: 1, stepType: "tool-result" },
  ...Array.from({ length: 100 }, (): TurnEvent => ({ type: "text-delta", text: "word " })),
  { type: "step-finish", index: 1, finishReason: "stop", usage: { promptTokens: 950, completionTokens: 100 } },
];

const outcome: TurnOutcome = {
  status: "done",
  text: "word ".repeat(100),
  reasoning: "",
  steps: [],
  answered: [],
  messages: [],
  state: null,
  hooks: [],
  replacedBy: null,
  produced: true,
  firstOutputMs: 310,
  durationMs: 1_840,
  calls: [{ toolCallId: "call-1", toolName: "currentTime", ok: true, durationMs: 3 }],
  usage: { promptTokens: 1_850, completionTokens: 120 },
  contextTokens: 900,
  uncountedCalls: 0,
  uncountedLength: 0,
};
const ending: TurnEnding = { outcome, replyKept: true, stored: { messageIds: [], hookExecutionIds: [] } };

/** The cost of a turn's log line and metrics, without the turn. The best of some alternating rounds. */
export function measureObserving(): string[][] {
  const nowhere = openSync("/dev/null", "w");
  const logAt = (level: "info" | "warn") =>
    createLog({
      level,
      pretty: false,
      secrets: ["sk-environment-0123456789", "0123456789abcdef0123456789abcdef"],
      write: (line) => void writeSync(nowhere, line),
    });
  const log = logAt("info");
  const clock = systemClock;
  const told: [string, TurnObserver | null][] = [
    ["nothing", null],
    ["a line of the log", turnLog({ log, clock })],
    ["the same with `LOG_LEVEL=warn`", turnLog({ log: logAt("warn"), clock })],
    ["metrics", measureTurns({ meters: createMeters(log), plugins: [] })],
  ];
  const best = told.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round += 1) {
    told.forEach(([, observer], index) => {
      best[index] = Math.min(best[index] ?? 0, microseconds(observer));
    });
  }
  return told.map(([name], index) => [name, (best[index] ?? 0).toFixed(1)]);
}

function microseconds(observer: TurnObserver | null): number {
  const before = process.cpuUsage();
  for (let told = 0; told < turns; told += 1) {
    const listener = observer?.started(turn);
    for (const event of events) listener?.event?.(event);
    listener?.ended?.(ending);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / turns;
}
