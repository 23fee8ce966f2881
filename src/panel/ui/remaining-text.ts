const units = [
  ["day", 86_400],
  ["hour", 3_600],
] as const;

/** How long something goes on, such as `for 24 more hours`; null beyond a week, where a date says more. */
export function remainingText(seconds: number): string | null {
  if (seconds >= 7 * 86_400) return null;
  const [unit, length] = units.find(([, one]) => seconds >= one) ?? ["minute", 60];
  const count = Math.max(1, Math.round(seconds / length));
  return `for ${count} more ${unit}${count === 1 ? "" : "s"}`;
}
