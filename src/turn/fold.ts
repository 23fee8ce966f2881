import type { NamedModel } from "../core/models/fallbacks.ts";
import type { Clock } from "../core/ports.ts";
import { elapsedMs } from "../core/time/elapsed.ts";
import type { Reply } from "./hooks.ts";
import { type AnsweredStep, isSameModel } from "./models.ts";
import { hasContent, type SoFar, withoutReasoning } from "./prompt.ts";
import { type Speech, StepFold, speech, type ToolCall } from "./step.ts";
import { type Answer, wireResult, withheldOf } from "./tools.ts";
import type {
  HookExecution,
  JsonValue,
  ModelMessage,
  NextCall,
  PendingCall,
  Step,
  StepType,
  TurnInput,
} from "./types.ts";
import { addUsage, noUsage, type Usage } from "./usage.ts";

/**
 * The limit of all tool results of a turn together, in characters of JSON: they are stored, shown and sent to the
 * model.
 */
const longestResults = 4 * 1024 * 1024;

const tooLong = {
  ok: false,
  error: `The results of one reply may have ${longestResults} characters together: ask for less`,
} as const;

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

/** Accumulates the steps, texts and messages of a running turn. */
export class TurnFold {
  /** The messages that the turn adds to the transcript; each call among them has its result. */
  readonly messages: ModelMessage[] = [];
  /** The messages of this turn that the next model call includes; `promptFor` returns them as its model accepts them. */
  readonly prompt: ModelMessage[];
  /** The hooks' text that the model reads before the user's message. */
  context: string | null;
  readonly hooks: HookExecution[] = [];
  readonly #steps: Step[] = [];
  readonly #answered: AnsweredStep[] = [];
  /** The models of the assistant's messages in `prompt`. */
  readonly #authors = new Map<ModelMessage, NamedModel>();
  #usage: Usage = noUsage;
  readonly #results = new Map<ToolCall, Answer>();
  readonly #clock: Clock;
  readonly #input: TurnInput;
  readonly #speech: Speech;
  readonly #startedAt: number;
  #contextTokens = 0;
  #uncountedCalls = 0;
  #uncountedLength = 0;
  #lastCallTokens = 0;
  /**
   * The length that the turn added to the prompt, and the part of it added after the last model call, in UTF-16 units.
   */
  #addedLength = 0;
  #unseenLength = 0;
  #resultsLength = 0;
  #seenResultsLength = 0;
  #step: StepFold | null = null;
  /** The model of the step; null for a step of decided calls. */
  #model: NamedModel | null = null;
  #stepStartedAt = 0;
  #firstOutputMs: number | null = null;
  #replacedBy: string | null = null;

  constructor(clock: Clock, input: TurnInput) {
    this.#clock = clock;
    this.#input = input;
    this.#speech = speech(input.scrub);
    this.#startedAt = clock.now();
    this.prompt = [...(input.continued?.messages ?? [])];
    const answeredBy = input.continued?.answeredBy;
    if (answeredBy) for (const message of this.prompt) this.#authors.set(message, answeredBy);
    this.context = input.continued?.context ?? null;
  }

  /** Begins a step; or restarts one whose first attempt had no output. `model` null: a step of decided calls. */
  begin(index: number, stepType: StepType, model: NamedModel | null): StepFold {
    this.#model = model;
    this.#step = new StepFold(index, stepType, this.#input, this.#speech);
    this.#stepStartedAt = this.#clock.now();
    return this.#step;
  }

  /** The prompt for a model, without the reasoning of the turn's other models. */
  promptFor(model: NamedModel): SoFar {
    const { context, prompt } = this;
    const isForeign = (message: ModelMessage | undefined) => {
      const author = message && this.#authors.get(message);
      return author !== undefined && !isSameModel(author, model);
    };
    if (!prompt.some(isForeign)) return { context, prompt };
    const accepted = prompt.map((message) => (isForeign(message) ? withoutReasoning(message) : message));
    // Anthropic refuses to reason after an own message without its reasoning.
    const mayReason = !isForeign(prompt.findLast(({ role }) => role === "assistant"));
    return { context, prompt: accepted.filter(hasContent), mayReason };
  }

  /** Whether the running step has output. */
  get said(): boolean {
    return this.#step?.said ?? false;
  }

  note(step: StepFold): void {
    if (this.#firstOutputMs === null && step.produced) this.#firstOutputMs = elapsedMs(this.#clock, this.#startedAt);
  }

  /** Records the result of a tool call; returns the stored result, which may be shorter. */
  answer(call: ToolCall, result: Answer): Answer {
    const length = JSON.stringify(wireResult(result)).length;
    const fits = this.#resultsLength + length <= longestResults;
    const taken = fits ? result : { ...tooLong, durationMs: result.durationMs };
    if (fits) this.#resultsLength += length;
    this.#results.set(call, taken);
    return taken;
  }

  /** Closes the step; returns its finish reason. */
  finish(step: StepFold): string {
    const finishReason = step.finish?.reason ?? "other";
    const { said, results } = this.#close(step, finishReason);
    if (said) {
      this.prompt.push(said);
      if (this.#model) this.#authors.set(said, this.#model);
    }
    if (results) this.prompt.push(results);
    return finishReason;
  }

  /** Closes a step of decided calls. The model's prompt contains the calls already, so only their results are added. */
  finishDecided(step: StepFold): void {
    const { results } = this.#close(step, "tool-calls");
    if (!results) return;
    // Providers expect all results of one message together.
    const last = this.prompt.at(-1);
    if (last?.role === "tool") this.prompt.splice(-1, 1, { ...last, content: [...last.content, ...results.content] });
    else this.prompt.push(results);
  }

  /** Closes a step whose calls wait for approval; returns the messages for `Continued.messages`. */
  suspend(step: StepFold): ModelMessage[] {
    const { results } = this.#close(step, "approval");
    const said = step.message(() => true);
    // Only one model's reasoning is stored: that of the last step.
    const { prompt } = this.#model ? this.promptFor(this.#model) : this;
    return [...prompt, ...(said ? [said] : []), ...(results ? [results] : [])];
  }

  /**
   * Adds the output of an unfinished step. `aborted`: the turn was stopped during the step, so the step did not fail.
   */
  breakOff(aborted: boolean): void {
    if (this.#step?.produced) this.#close(this.#step, "error");
    // The provider charges for the prompt even so.
    else if (aborted && this.#step?.asked) this.#leaveUncounted(this.#step);
  }

  /** The text of all steps so far. */
  get text(): string {
    return this.#steps.map((step) => step.text).join("");
  }

  /** Whether the model produced text, reasoning or the beginning of a tool call. */
  get produced(): boolean {
    return this.#firstOutputMs !== null;
  }

  /** Whether a tool was called and returned its result. */
  get called(): boolean {
    return this.#results.size > 0;
  }

  /** The size of one more model call, for the budget's reservation. */
  get nextCall(): NextCall {
    const counted = this.#lastCallTokens > 0;
    return { countedTokens: this.#lastCallTokens, length: counted ? this.#unseenLength : this.#addedLength };
  }

  /** Replaces the model's text by that of a hook, in everything stored and shown. */
  replaceText({ text, hookId }: Reply): void {
    this.#replacedBy = hookId;
    if (text === this.text) return;
    for (const step of this.#steps) step.text = "";
    const spoken = this.messages.map(withoutText).filter(({ content }) => content.length > 0);
    this.messages.splice(0, this.messages.length, ...spoken);
    const last = this.#steps.at(-1);
    if (text === "" || !last) return;
    last.text = text;
    this.messages.push({ role: "assistant", content: [{ type: "text", text }] });
  }

  outcome() {
    return {
      text: this.text,
      reasoning: this.#steps.map((step) => step.reasoning).join(""),
      steps: this.#steps,
      answered: this.#answered,
      messages: this.messages,
      usage: this.#usage,
      contextTokens: this.#contextTokens,
      uncountedCalls: this.#uncountedCalls,
      uncountedLength: this.#uncountedLength,
      state: this.#input.state.changes(),
      hooks: this.hooks,
      replacedBy: this.#replacedBy,
      calls: [...this.#results].map(([{ id, tool }, answer]) => {
        const { ok, durationMs } = answer;
        return { toolCallId: id, toolName: tool, ok, durationMs, ...withheldOf(answer) };
      }),
      produced: this.produced,
      firstOutputMs: this.#firstOutputMs,
      durationMs: elapsedMs(this.#clock, this.#startedAt),
    };
  }

  #close(step: StepFold, finishReason: string): { said: ModelMessage | null; results: ToolMessage | null } {
    this.#step = null;
    this.#usage = addUsage(this.#usage, step.usage);
    if (this.#model) this.#answered.push({ step: step.index, model: this.#model, usage: step.usage });
    // The count of a shortened prompt is not that of the whole prompt.
    if (!step.shortened) this.#contextTokens ||= step.usage.promptTokens;
    this.#lastCallTokens = step.usage.promptTokens + step.usage.completionTokens;
    const called = this.#input.continued === null || step.index > 0;
    if (called && this.#lastCallTokens === 0) this.#leaveUncounted(step);
    const answered = step.calls.filter((call) => this.#results.has(call));
    const said = step.message((call) => answered.includes(call));
    const results: ToolMessage | null =
      answered.length === 0 ? null : { role: "tool", content: answered.map((call) => this.#toolResult(call)) };
    if (said) this.messages.push(said);
    if (results) this.messages.push(results);
    this.#unseenLength = this.#resultsLength - this.#seenResultsLength;
    this.#seenResultsLength = this.#resultsLength;
    this.#addedLength += step.length + this.#unseenLength;
    this.#steps.push({
      index: step.index,
      stepType: step.stepType,
      text: step.text,
      toolCalls: step.calls.map(({ id, tool, shown }) => ({ toolCallId: id, toolName: tool, args: shown })),
      toolResults: answered.map((call) => ({ toolCallId: call.id, result: this.#wireResult(call) })),
      reasoning: step.reasoning,
      finishReason,
      durationMs: elapsedMs(this.#clock, this.#stepStartedAt),
    });
    return { said, results };
  }

  #leaveUncounted(step: StepFold): void {
    this.#uncountedCalls += 1;
    this.#uncountedLength += this.#addedLength + step.length;
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

function withoutText(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant") return message;
  return { ...message, content: message.content.filter(({ type }) => type !== "text") };
}

/** The stored form of a call that waits for a person's decision. */
export function pendingCall({ id, name, tool, shown }: ToolCall): PendingCall {
  return { toolCallId: id, modelName: name, toolName: tool, args: shown };
}
