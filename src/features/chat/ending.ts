import { EngineError } from "../../core/errors.ts";
import type { TurnOutcome } from "../../turn/types.ts";

/** What to tell the caller of a turn that did not end well; null when it did. */
export function endingError(outcome: TurnOutcome): EngineError | null {
  if (outcome.status === "failed") {
    const { code, message, retryAfterSeconds } = outcome.failure;
    const headers = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
    return new EngineError(code, message, { headers });
  }
  if (outcome.status !== "aborted" || outcome.reason === "stop") return null;
  return new EngineError("unavailable", abortMessages[outcome.reason], { headers: { "Retry-After": "5" } });
}

const abortMessages = {
  disconnect: "The client left before the turn began",
  shutdown: "The server is stopping",
  "lease-lost": "The turn was interrupted",
} as const;
