import { EngineError, ProviderSetupError } from "../../../core/errors.ts";
import { NoAnswer } from "../../../jobs/complete.ts";
import { setbackOf } from "../../turns/index.ts";

/** Why a definition could not be asked. `reason` is in words without secrets. */
export type AskingSetback =
  /** It is nobody's fault: it is asked after this time, in milliseconds, as often as it takes. */
  | { kind: "wait"; reason: string; ms: number }
  /** Another attempt may go well. */
  | { kind: "again"; reason: string }
  /** The event comes to nothing. */
  | { kind: "end"; outcome: "room-off" | "matcher-failed"; reason: string };

/** Null for an error that is not about the model or the agent. */
export function askingSetback(error: unknown): AskingSetback | null {
  if (error instanceof NoAnswer || error instanceof ProviderSetupError) return { kind: "again", reason: error.message };
  if (!(error instanceof EngineError)) return null;
  const setback = setbackOf(error);
  const { kind, reason } = setback;
  if (kind === "wait") return { kind, reason, ms: setback.ms };
  if (kind === "again") return { kind, reason };
  return { kind: "end", outcome: error.code === "not-found" ? "room-off" : "matcher-failed", reason };
}
