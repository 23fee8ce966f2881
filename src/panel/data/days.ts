// Milliseconds of a day. Days are those of UTC, such as `2026-11-21`, as the server counts them.

const dayMs = 86_400_000;

export const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10);

export const dayAfter = (date: string, days = 1) => dateOf(Date.parse(date) + days * dayMs);

/** The number of days from the first to the last, both included. */
export const daysIn = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / dayMs + 1;

/** Whether a text is a complete date: while a person types, a date field has years such as 0002. */
export const isDate = (text: string | null): text is string =>
  text !== null && /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Whether both days are set and the last one is before the first. */
export const isBackwards = ({ from, to }: { from: string; to: string }) =>
  isDate(from) && isDate(to) && daysIn(from, to) < 1;

/** Days for the API, whose `to` is exclusive. Days that are incomplete or backwards are left out. */
export const askedDays = (days: { from: string; to: string }) => {
  const { from, to } = days;
  if (isBackwards(days)) return {};
  return { ...(isDate(from) && { from }), ...(isDate(to) && { to: dayAfter(to) }) };
};
