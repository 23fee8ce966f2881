// Days in UTC, such as `2026-11-21`, as the server counts them.

const dayMs = 86_400_000;

export const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

export const dayAfter = (date: string, days = 1) => dateOf(Date.parse(date) + days * dayMs);

/** How many days there are from the first to the last, both counted. */
export const daysIn = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / dayMs + 1;

/** A field for dates has years such as 0002 while one is typed: those are none. */
export const isDate = (text: string | null): text is string =>
  text !== null && /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Whether both days are named, and the last one is before the first one. */
export const isBackwards = ({ from, to }: { from: string; to: string }) =>
  isDate(from) && isDate(to) && daysIn(from, to) < 1;

/** Days as the API is asked: its `to` is the first one that does not count. Days still typed, or backwards, are none. */
export const askedDays = (days: { from: string; to: string }) => {
  const { from, to } = days;
  if (isBackwards(days)) return {};
  return { ...(isDate(from) && { from }), ...(isDate(to) && { to: dayAfter(to) }) };
};
