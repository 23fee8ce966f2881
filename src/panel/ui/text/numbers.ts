// Numbers and times are in English in every browser, like the rest of the page.

/** The language of all `Intl` formats. */
export const language = "en";

const whole = new Intl.NumberFormat(language);
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const tenth = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });

/** A number with all digits. */
export const countText = (count: number) => whole.format(count);

/** A shortened large number, such as `1.2M`. */
export const shortText = (count: number) => short.format(count);

/** A share in percent, such as `25%`. */
export const shareText = (share: number) => percent.format(share);

const moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** A date and time from the server, in the reader's zone. */
export const momentText = (at: string) => moment.format(new Date(at));

/** A duration; null when nothing was measured. */
export function durationText(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1_000) return `${whole.format(Math.round(ms))} ms`;
  return ms < 120_000 ? `${tenth.format(ms / 1_000)} s` : `${tenth.format(ms / 60_000)} min`;
}

/** A total that also stands for all larger ones, since long lists are not counted to their end (src/http/paging.ts). */
const mostCounted = 10_001;

/** The range of entries on a page. */
export function pageText({ total, limit, offset }: { total: number; limit: number; offset: number }): string {
  const all = total === mostCounted ? `more than ${countText(mostCounted - 1)}` : countText(total);
  return `${countText(offset + 1)}–${countText(Math.min(offset + limit, total))} of ${all}`;
}

const units = [
  ["day", 86_400],
  ["hour", 3_600],
] as const;

/** The time left, such as `for 24 more hours`; null beyond a week, where a date is clearer. */
export function remainingText(seconds: number): string | null {
  if (seconds >= 7 * 86_400) return null;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ["minute", 60];
  const count = Math.max(1, Math.round(seconds / length));
  return `for ${count} more ${unit}${count === 1 ? "" : "s"}`;
}
