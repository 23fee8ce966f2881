import type { Analytics } from "../../../client/index.ts";

type Day = Analytics["dailyTrend"][number];

export interface Comparison {
  today: number | null;
  /** The mean of the days before; null when there are none. */
  usual: number | null;
}

export interface Today {
  turns: Comparison;
  conversations: Comparison;
  tokens: Comparison;
  latency: Comparison;
}

/** The number of days in the mean. */
const usualDays = 7;

/** Compares the last day with the mean of the days before it. For latencies, only days with a latency count. */
export function compareToday(days: readonly Day[]): Today {
  const today = days.at(-1);
  const before = days.slice(-1 - usualDays, -1);
  const worked = before.some(({ turns }) => turns > 0);
  const usual = (of: (day: Day) => number) => (worked ? meanOf(before.map(of)) : null);
  const latencies = before.flatMap(({ latencyP50 }) => latencyP50 ?? []);
  return {
    turns: { today: today?.turns ?? 0, usual: usual(({ turns }) => turns) },
    conversations: { today: today?.conversations ?? 0, usual: usual(({ conversations }) => conversations) },
    tokens: { today: today?.tokens ?? 0, usual: usual(({ tokens }) => tokens) },
    latency: { today: today?.latencyP50 ?? null, usual: latencies.length > 0 ? meanOf(latencies) : null },
  };
}

const meanOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
