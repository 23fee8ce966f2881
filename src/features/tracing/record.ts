import { randomHex } from "../../core/ids.ts";
import type { NamedModel } from "../../core/models/fallbacks.ts";
import type { Clock } from "../../core/ports.ts";
import type { SpanRef } from "../../core/tracing.ts";
import type { StartedCompletion, StartedTurn, TurnEnding, TurnListener } from "../../turn/observers.ts";
import type { HookExecution, JsonValue, TurnEvent, TurnOutcome } from "../../turn/types.ts";
import { noUsage, type Usage } from "../../turn/usage.ts";

/** A model call, recorded from its events. */
export interface RecordedStep {
  spanId: string;
  index: number;
  startMs: number;
  /** When the model had finished its output, before its tool calls; null when it never finished. */
  endMs: number | null;
  finishReason: string | null;
  usage: Usage;
  /** The model that was called last. */
  model: Pick<NamedModel, "provider" | "model">;
  /** The codes of failed attempts before this one. */
  retries: string[];
}

/** A tool call. */
export interface RecordedCall {
  spanId: string;
  id: string;
  tool: string;
  args: JsonValue;
  startMs: number;
  /** Null for a call that waits for approval, or did not end. A refused call did not fail. */
  end: { ms: number; failed: boolean; result: JsonValue } | null;
}

/** An execution of a hook. */
export interface RecordedHook {
  spanId: string;
  execution: HookExecution;
  endMs: number;
}

/** The subject of a trace. */
export type TraceSubject =
  | { kind: "turn"; turn: StartedTurn; askedBy: SpanRef | null }
  | { kind: "completion"; completion: StartedCompletion };

/** A finished turn or completion, from which its spans are made. */
export interface TraceRecord {
  traced: TraceSubject;
  root: SpanRef;
  startMs: number;
  endMs: number;
  steps: readonly RecordedStep[];
  calls: readonly RecordedCall[];
  hooks: readonly RecordedHook[];
  /** Null: the turn could not be recorded. */
  outcome: Pick<TurnOutcome, "text" | "steps" | "usage" | "firstOutputMs"> | null;
  status: TurnOutcome["status"];
  /** The error of the turn; null for none. */
  problem: { code: string; message: string; isError: boolean } | null;
}

/**
 * Notes the times of a turn's parts. The texts come from the turn's outcome, so a reply's many events cost almost nothing.
 */
export class Recorder implements TurnListener {
  readonly root: SpanRef;
  readonly #traced: TraceSubject;
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #onEnd: (recorded: TraceRecord) => void;
  readonly #steps: RecordedStep[] = [];
  readonly #calls: RecordedCall[] = [];
  readonly #hooks: RecordedHook[] = [];

  constructor(traced: TraceSubject, clock: Clock, onEnd: (recorded: TraceRecord) => void) {
    this.root = rootOf(traced.kind === "turn" ? traced.turn.id : traced.completion.id);
    this.#traced = traced;
    this.#clock = clock;
    this.#startMs = clock.now();
    this.#onEnd = onEnd;
  }

  /** The span of a running tool call; null for none. */
  call(toolCallId: string): SpanRef | null {
    const call = this.#open(toolCallId);
    return call ? { traceId: this.root.traceId, spanId: call.spanId } : null;
  }

  event(event: TurnEvent): void {
    switch (event.type) {
      case "step-start": {
        const { model } = this.#traced.kind === "turn" ? this.#traced.turn : this.#traced.completion;
        const blank = { endMs: null, finishReason: null, usage: noUsage, model, retries: [] };
        this.#steps.push({ ...blank, spanId: randomHex(16), index: event.index, startMs: this.#clock.now() });
        break;
      }
      case "model-retry":
        this.#steps.at(-1)?.retries.push(event.failure.code);
        break;
      case "model-fallback": {
        const step = this.#steps.at(-1);
        if (!step) break;
        step.model = event.to;
        step.retries.push(event.failure?.code ?? "resting");
        break;
      }
      case "tool-call": {
        const { id, name, args } = event;
        this.#calls.push({ spanId: randomHex(16), id, tool: name, args, startMs: this.#clock.now(), end: null });
        break;
      }
      case "tool-result": {
        const call = this.#open(event.id);
        if (!call) break;
        const { ok, withheld, result, durationMs } = event;
        const ms = this.#clock.now();
        const end = { ms, failed: !ok && !withheld, result };
        Object.assign(call, { startMs: ms - durationMs, end } satisfies Partial<RecordedCall>);
        const step = this.#steps.at(-1);
        if (step) step.endMs = Math.min(step.endMs ?? call.startMs, call.startMs);
        break;
      }
      case "hook-execution":
        this.#hooks.push({ spanId: randomHex(16), execution: event.execution, endMs: this.#clock.now() });
        break;
      case "step-finish": {
        const step = this.#steps.at(-1);
        if (!step) break;
        const { finishReason, usage } = event;
        Object.assign(step, { endMs: step.endMs ?? this.#clock.now(), finishReason, usage });
        break;
      }
    }
  }

  ended(ending: TurnEnding): void {
    const outcome = "outcome" in ending ? ending.outcome : null;
    this.#onEnd({
      traced: this.#traced,
      root: this.root,
      startMs: this.#startMs,
      endMs: this.#clock.now(),
      steps: this.#steps,
      calls: this.#calls,
      hooks: this.#hooks,
      outcome: outcome && pick(outcome),
      status: outcome?.status ?? "failed",
      problem: problemOf(ending),
    });
  }

  #open(toolCallId: string): RecordedCall | undefined {
    return this.#calls.findLast(({ id, end }) => id === toolCallId && end === null);
  }
}

/** The outcome without the model's messages, which may be long. */
const pick = ({ text, steps, usage, firstOutputMs }: TurnOutcome) => ({ text, steps, usage, firstOutputMs });

function problemOf(ending: TurnEnding): TraceRecord["problem"] {
  if ("unrecorded" in ending) {
    const { code, message } = ending.unrecorded;
    return { code, message, isError: true };
  }
  const { outcome } = ending;
  if (outcome.status === "failed") {
    const { code, message } = outcome.failure;
    return { code, message, isError: true };
  }
  if (outcome.status !== "aborted") return null;
  const { reason } = outcome;
  return { code: reason, message: `The turn ended early: ${reason}`, isError: false };
}

/**
 * The trace of a turn and its root span. Both follow from the turn's id, so that everyone with the id of a turn or
 * reply finds its trace, and turns of other processes can link to it.
 */
export function rootOf(turnId: string): SpanRef {
  const traceId = turnId.replaceAll("-", "");
  // The random half of the id.
  return { traceId, spanId: traceId.slice(16) };
}
