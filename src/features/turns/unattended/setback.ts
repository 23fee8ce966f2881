import { Overloaded } from "../../../core/admission/admission.ts";
import { EngineError } from "../../../core/errors.ts";
import { isRefused } from "../../../turn/failure.ts";
import type { Failure } from "../../../turn/types.ts";

/** Why nothing came of a turn that nobody waits for, and what is to be done. `reason` is in words without secrets. */
export type Setback =
  /** It is nobody's fault: the turn is taken after this time, in milliseconds, as often as it takes. */
  | { kind: "wait"; reason: string; ms: number }
  /** Another attempt may go well, not before this time. */
  | { kind: "again"; reason: string; ms: number }
  /** The model does not take what the turn says. */
  | { kind: "refused"; reason: string }
  /** The agent takes no turn for now; `notice` says whether people who wait are told. */
  | { kind: "closed"; reason: string; notice: boolean };

/** A refusal that lasts longer, in milliseconds, is not waited for. */
const patienceMs = 15 * 60_000;

/** The setback of an error that came instead of a turn. */
export function setbackOf(error: unknown): Setback {
  if (!(error instanceof EngineError)) return { kind: "again", reason: "Internal server error", ms: 0 };
  const { code, message: reason } = error;
  const ms = 1_000 * (Number(error.headers["Retry-After"]) || 5);
  if (error instanceof Overloaded || code === "unavailable") return { kind: "wait", reason, ms };
  if (code === "rate-limited") {
    return ms <= patienceMs ? { kind: "wait", reason, ms } : { kind: "closed", reason, notice: true };
  }
  // The agent is off or gone, and says nothing.
  if (code === "not-found") return { kind: "closed", reason: "The agent is inactive", notice: false };
  return { kind: "again", reason, ms: 0 };
}

/** The setback of a turn that failed. */
export function setbackOfTurn({ code, message: reason, cause, retryAfterSeconds = 0 }: Failure): Setback {
  const ms = 1_000 * retryAfterSeconds;
  if (cause instanceof EngineError && code === "rate-limited" && ms > patienceMs) {
    return { kind: "closed", reason, notice: true };
  }
  if (code === "too-large" || (code === "provider-failed" && isRefused(cause))) return { kind: "refused", reason };
  return { kind: "again", reason, ms };
}
