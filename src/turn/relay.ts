import { classifyFailure } from "./failure.ts";
import type { AbortReason, Tell, TurnEvent, TurnOutcome } from "./types.ts";
import { noUsage } from "./usage.ts";

/**
 * The effect of the last listener's departure on a turn. `cancel-if-silent`: if nothing was produced yet, the model is
 * stopped and nothing is stored (people at a chat). `always-finish`: the turn goes on (spec "States", "Streamed turn").
 */
export type DisconnectRule = "cancel-if-silent" | "always-finish";

export interface Relay {
  /** The client that started the turn disconnected: the rule decides whether the turn goes on. */
  leave(): void;
  abort(reason: AbortReason): void;
  /** Resolves when the turn is over and recorded; rejects when it could not be recorded. */
  readonly ended: Promise<TurnOutcome>;
}

interface RelayOptions {
  /** Read when the client disconnects, since a queued turn may have another rule than a running one. */
  readonly rule: DisconnectRule;
  /** Waits for the turn's slot, then runs the turn; rejects when the turn can't begin. */
  run(signal: AbortSignal, tell: Tell): Promise<TurnOutcome>;
  /** Called with every event, in order. */
  tell: Tell;
  /** Records the turn and returns the outcome as stored, which may be `superseded`. */
  record(outcome: TurnOutcome): Promise<TurnOutcome>;
}

/** Runs a turn to its end, with or without listeners, and records it. */
export function relay(options: RelayOptions): Relay {
  const { tell, record } = options;
  const controller = new AbortController();
  let produced = false;

  const hear: Tell = (event) => {
    produced ||= isOutput(event);
    tell(event);
  };
  const toItsEnd = async (): Promise<TurnOutcome> => {
    const { signal } = controller;
    const outcome = await options.run(signal, hear).catch((error: unknown) => unstarted(signal, error));
    return record(outcome);
  };
  const ended = toItsEnd();
  // Without this, a turn that cannot be recorded after its client left would be an unhandled rejection.
  ended.catch(() => {});

  return {
    ended,
    leave() {
      if (options.rule === "cancel-if-silent" && !produced) controller.abort("disconnect" satisfies AbortReason);
    },
    abort: (reason) => controller.abort(reason),
  };
}

/** Whether an event is output. After output, a disconnect no longer cancels the turn (spec "States"). */
export function isOutput({ type }: TurnEvent): boolean {
  return type === "text-delta" || type === "reasoning-delta" || type === "produced" || type === "tool-call";
}

/** The outcome of a turn that never ran: it was aborted while queued, or its input could not be prepared. */
function unstarted(signal: AbortSignal, error: unknown): TurnOutcome {
  const nothing = {
    text: "",
    reasoning: "",
    steps: [],
    answered: [],
    messages: [],
    calls: [],
    usage: noUsage,
    contextTokens: 0,
    uncountedCalls: 0,
    uncountedLength: 0,
    state: null,
    hooks: [],
    replacedBy: null,
    produced: false,
    firstOutputMs: null,
    durationMs: 0,
  };
  if (signal.aborted) return { ...nothing, status: "aborted", reason: signal.reason as AbortReason };
  return { ...nothing, status: "failed", failure: classifyFailure(error) };
}
