import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { pause } from "../core/time/pause.ts";
import { sqlState } from "./pool/failures.ts";

const deadlock = "40P01";
const duplicate = "23505";
const mostAttempts = 5;

/**
 * Retries `work`, a whole transaction or a single statement, after a deadlock, which PostgreSQL rolls back completely.
 * Rejects with the error of the fifth attempt.
 */
export function unlessDeadlocked<T>(work: () => Promise<T>): Promise<T> {
  return repeat(work, (error) => sqlState(error) === deadlock);
}

/**
 * Like `unlessDeadlocked`, for work that reads before it writes: also retries when another transaction inserted the
 * same row after the read (23505).
 */
export function unlessOvertaken<T>(work: () => Promise<T>): Promise<T> {
  return repeat(work, (error) => [deadlock, duplicate].includes(sqlState(error) ?? ""));
}

/**
 * Retries a statement after a deadlock or while the database is away, with pauses of 0.5 to 4 seconds: up to four
 * times, and longer while `mayWait` returns true.
 */
export function patiently<T>(clock: Clock, work: () => Promise<T>, mayWait = () => false): Promise<T> {
  const mayPass = (error: unknown) => isAway(error) || sqlState(error) === deadlock;
  return repeat(work, mayPass, { mayWait, rest: (attempt) => pause(clock, Math.min(4000, 250 * 2 ** attempt)) });
}

const isAway = (error: unknown) => error instanceof EngineError && error.code === "unavailable";

async function repeat<T>(
  work: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
  { mayWait, rest }: { mayWait?(): boolean; rest?(attempt: number): Promise<void> } = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error) || (attempt >= mostAttempts && !mayWait?.())) throw error;
      await rest?.(attempt);
    }
  }
}
