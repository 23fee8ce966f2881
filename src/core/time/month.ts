/** The calendar month of a moment in UTC, by which budgets are kept: its first day, as a date. */
export function monthOf(now: number): string {
  return `${new Date(now).toISOString().slice(0, 7)}-01`;
}
