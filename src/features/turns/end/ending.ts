import { EngineError } from "../../../core/errors.ts";
import type { TurnOutcome } from "../../../turn/types.ts";

/** The error for the caller of a failed or stopped turn; null for a successful one. */
export function endingError(outcome: TurnOutcome): EngineError | null {
  if (outcome.status === "failed") {
    const { code, message, retryAfterSeconds } = outcome.failure;
    return new EngineError(code, message, { retryAfterSeconds });
  }
  if (outcome.status !== "aborted") return null;
  if (outcome.reason === "stop") {
    // Without `shouldRetry: false`, the official clients would send the message again.
    return new EngineError("conflict", "The turn was stopped", { shouldRetry: false });
  }
  return new EngineError("unavailable", abortMessages[outcome.reason], { retryAfterSeconds: 5 });
}

/** Whether a caller stopped the turn or deleted its conversation. */
export function wasStopped(outcome: TurnOutcome): boolean {
  return outcome.status === "aborted" && outcome.reason === "stop";
}

const abortMessages = {
  disconnect: "The client left before the turn began",
  shutdown: "The server is stopping",
  "lease-lost": "The turn was interrupted",
  superseded: "A newer message took the place of this turn",
} as const;
