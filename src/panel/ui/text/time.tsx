import { signal } from "@preact/signals";
import { language, momentText, remainingText } from "./numbers.ts";

const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Changes twice a minute, so that relative times are updated. */
const passing = signal(0);
setInterval(() => {
  passing.value += 1;
}, 30_000);

/** A time in the reader's zone: how long ago it was, with the date as a tooltip. */
export function Time({ at }: { at: string }) {
  void passing.value;
  return (
    <time dateTime={at} title={momentText(at)}>
      {distance((Date.parse(at) - Date.now()) / 1000) ?? momentText(at)}
    </time>
  );
}

/** Null beyond a week, where a date is clearer. */
function distance(seconds: number): string | null {
  const size = Math.abs(seconds);
  if (size >= 7 * 86_400) return null;
  const [unit, length] = units.find(([, one]) => size >= one) ?? ["second", 1];
  return relative.format(Math.round(seconds / length), unit);
}

/** The time left, such as `for 24 more hours`; beyond a week, the end date. */
export function Remaining({ until }: { until: string }) {
  void passing.value;
  return (
    <time dateTime={until} title={momentText(until)}>
      {remainingText((Date.parse(until) - Date.now()) / 1000) ?? `until ${momentText(until)}`}
    </time>
  );
}
