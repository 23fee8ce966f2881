import type { Period } from "../../http/period.ts";

const dayMs = 24 * 60 * 60 * 1000;

const beginOfDay = (ms: number) => Math.floor(ms / dayMs) * dayMs;
const nextBegin = (ms: number) => Math.ceil(ms / dayMs) * dayMs;

/** Where the numbers of a period stand. */
export interface Parts {
  /** Whole UTC days whose rolled up numbers count; null for none. */
  days: Period | null;
  /** The turns of these stretches count one by one. */
  spans: Period[];
}

/**
 * Divides a period, such that everything in it is counted once: what was created before `until` is in the rows of its
 * days, which hold nothing else.
 */
export function partsOf({ from, to }: Period, until: Date): Parts {
  const [begin, end, rolled] = [from.getTime(), to.getTime(), until.getTime()];
  const firstDay = nextBegin(begin);
  // The row of a day that is not over has what the period has of it.
  const endOfDays = end >= rolled ? nextBegin(rolled) : beginOfDay(end);
  if (endOfDays <= firstDay) return { days: null, spans: spansOf([begin, end]) };
  return { days: spanOf(firstDay, endOfDays), spans: spansOf([begin, firstDay], [Math.min(rolled, endOfDays), end]) };
}

const spanOf = (from: number, to: number): Period => ({ from: new Date(from), to: new Date(to) });

function spansOf(...spans: readonly (readonly [number, number])[]): Period[] {
  return spans.filter(([from, to]) => from < to).map(([from, to]) => spanOf(from, to));
}
