import { z } from "@hono/zod-openapi";

/** The first day of the calendar month of a time, in UTC, as a date. Budgets use it. */
export function monthOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 7)}-01`;
}

/** Whether the runtime knows the time zone by this IANA name. */
export function isTimezone(name: string): boolean {
  // Newer runtimes also accept bare offsets, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const loose = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)$/;

/** ISO 8601 allows a time without seconds and an offset without a colon or minutes; RFC 3339 allows neither. */
function complete(text: unknown): unknown {
  const found = typeof text === "string" ? loose.exec(text) : null;
  if (!found) return text;
  const [, minute, seconds = ":00", hours, minutes = "00"] = found;
  return `${minute}${seconds}${hours === undefined ? "Z" : `${hours}:${minutes}`}`;
}

/** An ISO 8601 date and time with a zone, converted to RFC 3339: `2027-01-01T09:00Z` becomes `2027-01-01T09:00:00Z`. */
export const zMoment = (error = "must be an ISO 8601 date and time with a zone") =>
  z.preprocess(complete, z.iso.datetime({ offset: true, error }));
