const firstMs = 5_000;
const longestMs = 15 * 60_000;

/**
 * The pause after a job's `attempt`-th attempt, counted from 1, in milliseconds: doubled each time, up to 15 minutes.
 * `random` (0 to 1) removes up to half of it, so that jobs that failed together do not return together.
 */
export function backoffMs(attempt: number, random: number): number {
  const whole = Math.min(firstMs * 2 ** (attempt - 1), longestMs);
  return Math.round(whole * (1 - random / 2));
}
