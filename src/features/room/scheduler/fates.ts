import type { BacklogRow, EntryChange } from "../backlog/status.ts";

/** How often a turn takes an entry up before it fails (decisions §9). */
export const mostAttempts = 3;

/** How long an entry waits for a person's reply or decision, in milliseconds. */
export const patienceMs = 24 * 60 * 60_000;

/** How long an entry rests after its first and its second attempt, in milliseconds. */
const rests = [60_000, 5 * 60_000];

/** How long the entries of an agent rest that takes no turns for now, in milliseconds. */
const closedMs = 60 * 60_000;

/** What a turn of the Room came to. `reason` is in words without secrets. */
export type Ending =
  /** It went well: what the agent did not mark as completed has been tried once more. */
  | { kind: "done" }
  /** It failed, and may go well another time, not before `ms` milliseconds and the usual rest. */
  | { kind: "again"; reason: string; ms: number }
  /** Its process died. */
  | { kind: "lost"; reason: string }
  /** The model does not take what the turn says. */
  | { kind: "refused"; reason: string; alone: boolean }
  /** It must not be repeated. */
  | { kind: "final"; reason: string }
  /** Nothing is the entries' fault: they are taken up again at once. */
  | { kind: "undone"; reason: string }
  /** The agent takes no turns for now. */
  | { kind: "closed"; reason: string }
  /** A person decides about a call first. */
  | { kind: "approval" };

/** An entry that a turn took up and that the agent did not mark as completed. */
export type Held = Pick<BacklogRow, "attempts" | "notBefore">;

/**
 * What becomes of an entry after a turn. One about which the agent asked a person has a `notBefore`: it waits for the
 * reply, or was answered already where that time has come. `now` is in milliseconds since the epoch.
 */
export function fateOf({ attempts, notBefore }: Held, ending: Ending, now: number): EntryChange {
  const uncounted = { status: "pending", attempts: Math.max(0, attempts - 1) } as const;
  if (notBefore !== null) {
    return { ...uncounted, notBefore: notBefore.getTime() > now ? notBefore : null, error: null };
  }
  switch (ending.kind) {
    case "done":
      return tried(attempts, "The agent did not mark it as completed", restOf(attempts), now);
    case "again":
      return tried(attempts, ending.reason, Math.max(ending.ms, restOf(attempts)), now);
    case "lost":
      return tried(attempts, ending.reason, 0, now);
    case "refused":
      if (ending.alone) return { status: "failed", error: ending.reason };
      return {
        status: "pending",
        notBefore: null,
        attempts: Math.max(attempts, mostAttempts - 1),
        error: ending.reason,
      };
    case "final":
      return { status: "failed", error: ending.reason };
    case "undone":
      return { ...uncounted, notBefore: null, error: ending.reason };
    case "closed":
      return { ...uncounted, notBefore: new Date(now + closedMs), error: ending.reason };
    case "approval":
      return { ...uncounted, notBefore: new Date(now + patienceMs), error: null };
  }
}

const restOf = (attempts: number) => rests[Math.min(attempts, rests.length) - 1] ?? 0;

function tried(attempts: number, error: string, restMs: number, now: number): EntryChange {
  if (attempts >= mostAttempts) return { status: "failed", error };
  return { status: "pending", notBefore: restMs > 0 ? new Date(now + restMs) : null, error };
}
