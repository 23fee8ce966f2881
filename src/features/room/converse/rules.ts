import type { TurnOutcome } from "../../../turn/types.ts";
import { type Setback, setbackOfTurn, type Unattended, wasStopped } from "../../turns/index.ts";
import { mostTries } from "../tries.ts";

/** What comes of an event after an attempt at its turn. `reason` is in words without secrets. */
export type Conclusion =
  /** The turn went well, or waits for a person's decision. */
  | { kind: "done" }
  /** It is taken again after this time, in milliseconds. */
  | { kind: "wait" | "again"; reason: string; ms: number }
  | { kind: "end"; reason: string };

/** `tried`: how often the turn was taken, the last time included. */
export function conclusionOf({ outcome, acted }: Unattended, tried: number): Conclusion {
  if (wasStopped(outcome)) return { kind: "end", reason: "The turn was stopped" };
  if (outcome.status === "aborted") return notTwice({ kind: "wait", reason: "The turn was interrupted", ms: 0 }, acted);
  if (outcome.status !== "failed") return { kind: "done" };
  const { failure } = outcome;
  const setback = setbackOfTurn(failure);
  const reason = `The turn failed: ${setback.reason}${failure.hint === undefined ? "" : `: ${failure.hint}`}`;
  return notTwice(afterSetback({ ...setback, reason }, tried), acted);
}

/** Another attempt would call the tools once more. */
function notTwice(conclusion: Exclude<Conclusion, { kind: "done" }>, acted: boolean): Conclusion {
  if (!acted || conclusion.kind === "end") return conclusion;
  return { kind: "end", reason: `${conclusion.reason}. It is not taken again, since it called tools` };
}

/** What comes of a setback at the `tried`-th attempt. */
export function afterSetback(setback: Setback, tried: number): Exclude<Conclusion, { kind: "done" }> {
  const { kind, reason } = setback;
  if (kind === "wait") return { kind, reason, ms: setback.ms };
  if (kind === "again" && tried < mostTries) return { kind, reason, ms: setback.ms };
  return { kind: "end", reason };
}

/** Whether nothing of an attempt is stored but that there was one, since another one follows. */
export function isDiscarded(outcome: TurnOutcome, acted: boolean, tried: number): boolean {
  if (outcome.status !== "failed" && outcome.status !== "aborted") return false;
  const { kind } = conclusionOf({ outcome, acted }, tried);
  return kind === "wait" || kind === "again";
}
