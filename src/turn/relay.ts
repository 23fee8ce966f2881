import { classifyFailure } from "./failure.ts";
import type { AbortReason, TurnEvent, TurnOutcome } from "./types.ts";

/**
 * What a departing listener means. `cancel-if-silent`: nothing produced yet, nobody listens: stop the model and store
 * nothing (people at a chat). `always-finish`: the turn goes on whoever listens (spec "States", "Streamed turn").
 */
export type DisconnectRule = "cancel-if-silent" | "always-finish";

export interface Relay {
  /** Every event from the first one on: what came before there was a listener is kept for it. */
  listen(listener: (event: TurnEvent) => void): void;
  /** Nobody waits for the reply any more: the rule decides about the turn. */
  leave(): void;
  abort(reason: AbortReason): void;
  /** Settles when the turn is over and recorded; rejects when it could not be recorded. */
  readonly ended: Promise<TurnOutcome>;
}

interface RelayOptions {
  /** Looked at when somebody leaves: it may change. */
  readonly rule: DisconnectRule;
  /** Waits until it is this turn's turn, then starts it. */
  start(signal: AbortSignal): Promise<AsyncGenerator<TurnEvent, TurnOutcome>>;
  record(outcome: TurnOutcome): Promise<void>;
}

/** Runs a turn to its end, whoever listens, and records it. */
export function relay(options: RelayOptions): Relay {
  const { start, record } = options;
  const controller = new AbortController();
  const kept: TurnEvent[] = [];
  let listener = (event: TurnEvent): void => void kept.push(event);
  let produced = false;

  const pump = async (): Promise<TurnOutcome> => {
    let outcome: TurnOutcome;
    try {
      const events = await start(controller.signal);
      let next = await events.next();
      while (!next.done) {
        const event = next.value;
        produced ||= isOutput(event);
        listener(event);
        next = await events.next();
      }
      outcome = next.value;
    } catch (error) {
      outcome = unstarted(controller.signal, error);
    }
    await record(outcome);
    return outcome;
  };
  const ended = pump();
  // The doors look at `ended`; a turn whose asker is gone has nobody who would.
  ended.catch(() => {});

  return {
    ended,
    listen(fn) {
      for (const event of kept.splice(0)) fn(event);
      listener = fn;
    },
    leave() {
      if (options.rule === "cancel-if-silent" && !produced) controller.abort("disconnect" satisfies AbortReason);
    },
    abort: (reason) => controller.abort(reason),
  };
}

/** What counts as output: it closes the window in which a disconnect cancels the turn (spec "States"). */
export function isOutput({ type }: TurnEvent): boolean {
  return type === "text-delta" || type === "reasoning-delta" || type === "produced" || type === "tool-call";
}

/** How a turn ended that never came to run: aborted while it waited, or not to be prepared. */
function unstarted(signal: AbortSignal, error: unknown): TurnOutcome {
  const nothing = {
    text: "",
    reasoning: "",
    steps: [],
    messages: [],
    calls: [],
    usage: { promptTokens: 0, completionTokens: 0 },
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
