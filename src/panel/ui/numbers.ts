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
