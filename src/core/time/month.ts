/** The first day of a moment's calendar month in UTC, as a date; budgets use it. */
export function monthOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 7)}-01`;
}
