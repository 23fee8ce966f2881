import { Cron, CronPattern } from "croner";

/** How far ahead the next run of a cron expression is searched. A leap day may be 8 years away (2096 to 2104). */
export const horizonYears = 10;

/** The longest cron expression, in UTF-16 units. */
export const expressionLimit = 200;

/** The five fields of a cron expression, and the numbers that each takes. */
const fields = [
  ["minute", "0 to 59"],
  ["hour", "0 to 23"],
  ["day of the month", "1 to 31"],
  ["month", "1 to 12"],
  ["day of the week", "0 to 7"],
] as const;

/** The problem of an expression, with advice, or null. Does not check whether any day matches. */
export function expressionProblem(expression: string): string | null {
  if (expression.length > expressionLimit) {
    return `Shorten the cron expression: it takes at most ${expressionLimit} characters`;
  }
  if (isReadable(expression)) return null;
  const parts = expression.match(/\S+/g) ?? [];
  if (parts.length !== fields.length) {
    const names = fields.map(([name]) => name).join(", ");
    return `Write the cron expression with five fields (${names}), such as "0 9 * * 1-5": it has no seconds and no year`;
  }
  const wrong = parts.findIndex(
    (part, at) => !isReadable(fields.map((_, other) => (other === at ? part : "*")).join(" ")),
  );
  const [name, numbers] = fields[wrong] ?? ["fields", "numbers"];
  return `Correct the ${name} of the cron expression: it takes ${numbers}, *, lists (1,5), ranges (1-5) and steps (*/5)`;
}

function isReadable(expression: string): boolean {
  try {
    parse(expression);
    return true;
  } catch {
    return false;
  }
}

/** The expression with five fields: croner expands nicknames such as `@daily`. Throws for an invalid one. */
function parse(expression: string): string {
  return new CronPattern(expression, undefined, { mode: "5-part" }).pattern;
}

/**
 * Finds the runs of a cron expression in a time zone, between the first year and the last. The years are added to the
 * expression, since croner would search for a day such as February 30 until the year 3000. `timezone` has the runtime's
 * spelling, since croner keeps a formatter for each spelling.
 */
function finder(expression: string, timezone: string, from: Date, to: Date): Cron {
  const zone = new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone;
  const years = `${from.getUTCFullYear() - 1}-${to.getUTCFullYear() + 1}`;
  return new Cron(`0 ${parse(expression)} ${years}`, {
    timezone: zone,
    mode: "7-part",
    fixedTimeRule: "no-wildcard",
    paused: true,
  });
}

/**
 * The first run after this time, or null when none comes within `horizonYears`. Throws for an invalid expression or
 * time zone.
 *
 * At clock changes croner's rules apply (`fixedTimeRule` in its `CronOptions`):
 * - An expression whose minute and hour have neither `*`, `?` nor a step has fixed times. A skipped local time runs at
 *   the first moment after the gap, once for all times of the gap, and is omitted when that moment is on the next day
 *   (America/Nuuk). A repeated local time runs once, the first time.
 * - Any other expression repeats: skipped times do not run, and repeated times run twice, so that an hourly task runs
 *   every hour.
 */
export function nextCronRun(expression: string, timezone: string, after: Date): Date | null {
  const last = new Date(after);
  last.setUTCFullYear(after.getUTCFullYear() + horizonYears - 1);
  return finder(expression, timezone, after, last).nextRun(after);
}

/** How many runs are compared: enough to find close times within one day. */
const comparedRuns = 100;

/** The shortest time between two runs after `after`, in milliseconds. Throws as `nextCronRun` does. */
export function closestCronRuns(expression: string, timezone: string, after: Date): number {
  const last = new Date(after);
  last.setUTCFullYear(after.getUTCFullYear() + horizonYears - 1);
  const runs = finder(expression, timezone, after, last).nextRuns(comparedRuns, after);
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...runs.slice(1).map((run, at) => run.getTime() - (runs[at] ?? run).getTime()),
  );
}

/** The last runs after `after` and up to `until`, at most `most` of them, oldest first. Throws as `nextCronRun` does. */
export function cronRunsBetween(expression: string, timezone: string, after: Date, until: Date, most: number): Date[] {
  const cron = finder(expression, timezone, after, until);
  const runs: Date[] = [];
  // croner searches before this time, and a run at `until` counts.
  let before = new Date(until.getTime() + 1);
  while (runs.length < most) {
    const [run] = cron.previousRuns(1, before);
    if (!run || run <= after) break;
    runs.push(run);
    before = run;
  }
  return runs.reverse();
}
