import type { Clock } from "../core/ports.ts";
import type { Scrub } from "../core/scrub.ts";
import { StepFold, type ToolCall, tokenCount } from "./step.ts";
import { type ToolResult, wireResult } from "./tools.ts";
import type { JsonValue, ModelMessage, Step, StepType, Usage } from "./types.ts";

/** What became of a turn so far. */
export class TurnFold {
  readonly messages: ModelMessage[] = [];
  readonly #steps: Step[] = [];
  readonly #usage: Usage = { promptTokens: 0, completionTokens: 0 };
  readonly #results = new Map<ToolCall, ToolResult>();
  readonly #clock: Clock;
  readonly #scrub: Scrub;
  readonly #startedAt: number;
  #step: StepFold | null = null;
  #stepStartedAt = 0;
  #firstOutputMs: number | null = null;

  constructor(clock: Clock, scrub: Scrub) {
    this.#clock = clock;
    this.#scrub = scrub;
    this.#startedAt = clock.now();
  }

  /** Begins a step, or begins it anew when nothing came of the first attempt. */
  begin(index: number, stepType: StepType): StepFold {
    this.#step = new StepFold(index, stepType, this.#scrub);
    this.#stepStartedAt = this.#clock.now();
    return this.#step;
  }

  note(step: StepFold): void {
    if (this.#firstOutputMs === null && step.produced) this.#firstOutputMs = this.#clock.now() - this.#startedAt;
  }

  answer(call: ToolCall, result: ToolResult): void {
    this.#results.set(call, result);
  }

  /** Closes the step; answers its finish reason. */
  finish(step: StepFold): string {
    const finishReason = step.finish?.reason ?? "other";
    this.#close(step, finishReason);
    return finishReason;
  }

  /** Keeps what an unfinished step has produced. */
  breakOff(): void {
    if (this.#step?.produced) this.#close(this.#step, "error");
  }

  outcome() {
    return {
      text: this.#steps.map((step) => step.text).join(""),
      reasoning: this.#steps.map((step) => step.reasoning).join(""),
      steps: this.#steps,
      messages: this.messages,
      usage: this.#usage,
      produced: this.#firstOutputMs !== null,
      firstOutputMs: this.#firstOutputMs,
      durationMs: this.#clock.now() - this.#startedAt,
    };
  }

  #close(step: StepFold, finishReason: string): void {
    this.#step = null;
    this.#usage.promptTokens = tokenCount(this.#usage.promptTokens + step.usage.promptTokens);
    this.#usage.completionTokens = tokenCount(this.#usage.completionTokens + step.usage.completionTokens);
    const answered = step.calls.filter((call) => this.#results.has(call));
    const message = step.message((call) => answered.includes(call));
    if (message) this.messages.push(message);
    if (answered.length > 0)
      this.messages.push({ role: "tool", content: answered.map((call) => this.#toolResult(call)) });
    this.#steps.push({
      index: step.index,
      stepType: step.stepType,
      text: step.text,
      toolCalls: step.calls.map(({ id, name, shown }) => ({ toolCallId: id, toolName: name, args: shown })),
      toolResults: answered.map((call) => ({ toolCallId: call.id, result: this.#wireResult(call) })),
      reasoning: step.reasoning,
      finishReason,
      durationMs: this.#clock.now() - this.#stepStartedAt,
    });
  }

  #toolResult(call: ToolCall) {
    const result = this.#results.get(call);
    const output = result?.ok
      ? ({ type: "json", value: result.value } as const)
      : ({ type: "error-text", value: result?.error ?? "" } as const);
    return { type: "tool-result" as const, toolCallId: call.id, toolName: call.name, output };
  }

  #wireResult(call: ToolCall): JsonValue {
    const result = this.#results.get(call);
    return result ? wireResult(result) : null;
  }
}
