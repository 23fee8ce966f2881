import { EngineError, ProviderSetupError } from "../../../core/errors.ts";
import { Overloaded } from "../../../core/limits/admission.ts";
import type { Clock } from "../../../core/ports.ts";
import { backoffMs } from "../../../jobs/backoff.ts";
import { NoAnswer } from "../../../jobs/complete.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { isRefused } from "../../../turn/failure.ts";
import type { Failure, TurnOutcome } from "../../../turn/types.ts";
import { wasStopped } from "../end/ending.ts";
import { stopped } from "./last-turn.ts";

/** How an attempt at unattended work ended. Each `reason` is a text without secrets. */
export type AttemptEnd =
  /** The turn succeeded. */
  | { kind: "done" }
  /** The turn waits until a person approves a tool call. */
  | { kind: "approval" }
  /** The work is retried after at least `ms` milliseconds. The attempt is not counted. */
  | { kind: "defer"; reason: string; ms: number }
  /** Like `defer`, but counted. `alone`: the model refused several items together; they are retried one by one. */
  | { kind: "retry"; reason: string; ms: number; alone: boolean }
  | GivenUp;

/** The work ended for good. */
interface GivenUp {
  kind: "give-up";
  reason: string;
  why:
    | "stopped"
    /** A retry would call tools a second time. */
    | "tools-called"
    /** The model refuses the turn's content. */
    | "refused"
    /** The agent can't run turns before the work is too old, for example with a spent budget. */
    | "closed"
    /** The agent is inactive or deleted, or its channel is off. People get no notice. */
    | "off"
    | "too-often";
}

/** The rules of one attempt. */
export interface Tries {
  /** The number of attempts, including this one. */
  tried: number;
  /** The most attempts. */
  most: number;
  /** The number of items of the turn; 1 when absent. */
  items?: number;
  /** Whether an interrupted turn is repeated even after it called tools, so that no message is lost (decisions §8). */
  losesNothing?: boolean;
}

/** The longest pause that unattended work waits for, in milliseconds. */
const patienceMs = 15 * 60_000;

export const giveUp = (why: GivenUp["why"], reason: string): GivenUp => ({ kind: "give-up", reason, why });

/**
 * The end of an attempt after a turn. `acted`: the turn called a tool that may have changed something outside the
 * engine.
 */
export function endOfTurn(outcome: TurnOutcome, acted: boolean, tries: Tries): AttemptEnd {
  if (outcome.status === "done" || outcome.status === "approval") return { kind: outcome.status };
  if (wasStopped(outcome)) return giveUp("stopped", stopped);
  const end = outcome.status === "failed" ? endOfFailure(outcome.failure, tries) : interrupted;
  if (!acted || (tries.losesNothing && outcome.status === "aborted")) return end;
  return giveUp("tools-called", `${end.reason}. It is not tried again, since tools were called`);
}

export const interrupted = { kind: "defer", reason: "The turn was interrupted", ms: 0 } as const;

function endOfFailure({ code, message, cause, retryAfterSeconds = 0, hint }: Failure, tries: Tries) {
  const reason = hint === undefined ? message : `${message}: ${hint}`;
  const ms = 1_000 * retryAfterSeconds;
  if (cause instanceof EngineError && code === "rate-limited" && ms > patienceMs) return giveUp("closed", reason);
  if (code !== "too-large" && !(code === "provider-failed" && isRefused(cause))) return retry(reason, tries, ms);
  if ((tries.items ?? 1) === 1) return giveUp("refused", reason);
  return { kind: "retry", reason, ms: 0, alone: true } as const;
}

/** The end of an attempt after an error instead of a turn. */
export function endOfError(error: unknown, tries: Tries): AttemptEnd {
  if (error instanceof NoAnswer || error instanceof ProviderSetupError) return retry(error.message, tries);
  if (!(error instanceof EngineError)) return retry("Internal server error", tries);
  const { code, message: reason } = error;
  const ms = 1_000 * (error.retryAfterSeconds ?? 5);
  if (error instanceof Overloaded || code === "unavailable") return { kind: "defer", reason, ms };
  if (code === "rate-limited") return ms <= patienceMs ? { kind: "defer", reason, ms } : giveUp("closed", reason);
  if (code === "not-found") return giveUp("off", "The agent is inactive");
  return retry(reason, tries);
}

function retry(reason: string, { tried, most }: Tries, ms = 0): AttemptEnd & { reason: string } {
  return tried < most ? { kind: "retry", reason, ms, alone: false } : giveUp("too-often", reason);
}

/** Whether messages of the turn are stored: when it succeeded, was stopped, or called tools. Other turns are repeated. */
export const isStored = (end: AttemptEnd): boolean =>
  end.kind === "done" ||
  end.kind === "approval" ||
  (end.kind === "give-up" && (end.why === "stopped" || end.why === "tools-called"));

/** Throws `Postponed` if the work is to be retried, so that its job runs again. */
export function repeatLater(clock: Clock, { end, tried }: { end: AttemptEnd; tried: number }): void {
  if (end.kind === "defer") throw new Postponed(end.reason, clock.now() + end.ms);
  if (end.kind !== "retry") return;
  const restMs = end.alone ? 0 : Math.max(end.ms, backoffMs(tried, Math.random()));
  throw new Postponed(end.reason, clock.now() + restMs);
}
