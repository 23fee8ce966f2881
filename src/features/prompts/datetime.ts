/**
 * Formats a time, in milliseconds since the epoch, in this time zone: `Saturday, 2026-11-21 09:30 (UTC+01:00)`.
 * Formatters are expensive, so each zone has one.
 */
export function datetimeIn(timezone: string): (now: number) => string {
  const write = writerIn(timezone);
  let read = { minute: Number.NaN, text: "" };
  return (now) => {
    const minute = Math.floor(now / 60_000);
    if (minute !== read.minute) read = { minute, text: write(now) };
    return read.text;
  };
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Formats UTC without `Intl`: the first formatter of a process takes as long as ten turns. */
function writeUtc(now: number): string {
  const time = new Date(now);
  const text = time.toISOString();
  return `${weekdays[time.getUTCDay()]}, ${text.slice(0, 10)} ${text.slice(11, 16)} (UTC+00:00)`;
}

function writeBy(format: Intl.DateTimeFormat, now: number): string {
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
  const date = [part("year"), part("month"), part("day")].join("-");
  return `${part("weekday")}, ${date} ${part("hour")}:${part("minute")} (UTC${offset})`;
}

/** The formatter of a zone. A zone that this runtime does not know counts as UTC, so that turns do not fail. */
function writerIn(timezone: string): (now: number) => string {
  if (timezone === "UTC") return writeUtc;
  try {
    const format = new Intl.DateTimeFormat("en-GB", { ...fields, timeZone: timezone });
    return (now) => writeBy(format, now);
  } catch {
    return writeUtc;
  }
}

const fields = {
  weekday: "long",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "longOffset",
} as const;
