// Numbers as the reader's language writes them.

const whole = new Intl.NumberFormat();
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const tenth = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });

/** Every digit. */
export const countText = (count: number) => whole.format(count);

/** Large numbers in short, such as `1.2M`. */
export const shortText = (count: number) => short.format(count);

/** 1 of 4 is `25%`. */
export const shareText = (share: number) => percent.format(share);

/** Null: nothing was measured. */
export function durationText(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1_000) return `${whole.format(Math.round(ms))} ms`;
  return ms < 120_000 ? `${tenth.format(ms / 1_000)} s` : `${tenth.format(ms / 60_000)} min`;
}

/** A total that also stands for any greater one: long lists are not counted to their end (src/http/paging.ts). */
const mostCounted = 10_001;

/** Which entries of a list a page shows. */
export function pageText({ total, limit, offset }: { total: number; limit: number; offset: number }): string {
  const all = total === mostCounted ? `more than ${countText(mostCounted - 1)}` : countText(total);
  return `${countText(offset + 1)}–${countText(Math.min(offset + limit, total))} of ${all}`;
}
