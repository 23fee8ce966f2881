import { EngineError, ProviderSetupError } from "../../../core/errors.ts";
import { NoAnswer } from "../../../jobs/complete.ts";
import { type AttemptEnd, endOfError, type Tries } from "../../turns/index.ts";

/** The end of an attempt to ask about a definition; null for an error that is about neither the model nor the agent. */
export function endOfAsking(error: unknown, tries: Tries): AttemptEnd | null {
  const isKnown = error instanceof EngineError || error instanceof NoAnswer || error instanceof ProviderSetupError;
  return isKnown ? endOfError(error, tries) : null;
}

/** The outcome of an event whose definitions could not be asked. */
export const outcomeOf = (end: AttemptEnd) =>
  end.kind === "give-up" && end.why === "off" ? "room-off" : "matcher-failed";
