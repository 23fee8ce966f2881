import { APICallError } from "@ai-sdk/provider";
import type { JsonObject, JsonValue } from "../../../core/json.ts";
import type { NamedModel } from "../../../core/models/fallbacks.ts";
import type { Clock } from "../../../core/ports.ts";
import { scrubJson } from "../../../core/scrub/json.ts";
import type { Scrub } from "../../../core/scrub/scrub.ts";
import { clipJson, shorten } from "../../../core/text/clip-json.ts";
import { BlockedReply } from "../../../turn/failure.ts";
import { clipExecution, hookContext } from "../../../turn/hooks.ts";
import type { TurnListener } from "../../../turn/observers.ts";
import { callOptions } from "../../../turn/prompt.ts";
import { isOutput } from "../../../turn/relay.ts";
import type { Failure, TurnEvent, TurnInput, TurnOutcome } from "../../../turn/types.ts";
import type { TurnDebug } from "../../conversations/index.ts";
import type { Begun } from "../begin.ts";
import { describeCause } from "../end/cause.ts";
import { keptPrompt } from "./prompt.ts";

/** The limits of stored data, in characters or members. */
const longestValue = 16 * 1024;
const longestMemories = 32 * 1024;
const longestState = 64 * 1024;
const longestDescription = 500;
const [mostTools, mostSteps, mostHandoffs, mostHooks] = [500, 200, 200, 64];

type Step = TurnDebug["steps"][number];

/** Records how a turn makes its reply, for an agent under debugging (decisions §12, "why this answer"). */
export class DebugNotes implements TurnListener {
  readonly #clock: Clock;
  readonly #scrub: Scrub;
  readonly #arrivedAt: number;
  #begunAt = 0;
  #stepAt = 0;
  #begun: Begun | null = null;
  #state: JsonObject = {};
  readonly #steps: Step[] = [];
  readonly #handoffs: TurnDebug["handoffs"] = [];

  constructor(clock: Clock, scrub: Scrub) {
    this.#clock = clock;
    this.#scrub = scrub;
    this.#arrivedAt = clock.now();
  }

  /** Called before the turn runs, with the same state as in the prompt. */
  begin(begun: Begun): void {
    this.#begun = begun;
    this.#begunAt = this.#clock.now();
    this.#state = structuredClone(begun.input.state.visible());
  }

  event(event: TurnEvent): void {
    const now = this.#clock.now();
    const step = this.#steps.at(-1);
    if (step && step.firstOutputMs === null && isOutput(event)) step.firstOutputMs = now - this.#stepAt;
    if (event.type === "step-start" && this.#steps.length < mostSteps) {
      this.#stepAt = now;
      const { index, stepType } = event;
      const startedMs = now - this.#begunAt;
      this.#steps.push({
        ...blankStep,
        ...this.#modelOf(index),
        index,
        stepType,
        startedMs,
        retries: [],
        fallbacks: [],
      });
    } else if (event.type === "model-retry" && step?.index === event.index) {
      const { attempt, waitMs } = event;
      step.retries.push({ attempt, waitMs, failure: keptFailure(event.failure, this.#scrub) });
    } else if (event.type === "model-fallback" && step?.index === event.index) {
      const { from, to, failure } = event;
      step.fallbacks?.push({ ...shownModel(from), failure: failure && keptFailure(failure, this.#scrub) });
      Object.assign(step, shownModel(to));
    } else if (event.type === "step-finish" && step?.index === event.index) {
      Object.assign(step, { durationMs: now - this.#stepAt, finishReason: event.finishReason, ...event.usage });
    } else if (event.type === "handoff" && event.phase === "start" && this.#handoffs.length < mostHandoffs) {
      const { id, agent, conversationId } = event;
      this.#handoffs.push({ toolCallId: id, agent, conversationId });
    }
  }

  /** The debug data to store. */
  of(outcome: TurnOutcome): TurnDebug {
    const begun = this.#begun;
    return {
      preparedMs: begun && this.#begunAt - this.#arrivedAt,
      settings: begun && settingsOf(begun.input),
      prompt: begun && keptPrompt(firstPrompt(begun.input, outcome), this.#scrub),
      memories: shorten(this.#scrub(begun?.memories ?? ""), longestMemories),
      state: this.#object(this.#state),
      tools: begun ? toolsOf(begun.input, this.#scrub) : [],
      steps: this.#steps,
      handoffs: this.#handoffs,
      // Secrets are already removed from the executions of hooks.
      hooks: outcome.hooks.slice(0, mostHooks).map((execution) => clipExecution(execution, longestValue)),
      stateChanges: outcome.state && {
        set: this.#object(outcome.state.set),
        removed: outcome.state.removed.map((key) => shorten(this.#scrub(key), longestDescription)),
      },
      failure: outcome.status === "failed" ? keptFailure(outcome.failure, this.#scrub) : null,
    };
  }

  /** The first model of a step; nothing for a step of decided calls. */
  #modelOf(index: number) {
    const input = this.#begun?.input;
    return input && (index > 0 || !input.continued) ? shownModel(input.models[0].named) : {};
  }

  #object(values: JsonObject): JsonObject {
    return clipJson(scrubJson(values, this.#scrub) as JsonValue, longestState) as JsonObject;
  }
}

const shownModel = ({ connection, provider, model }: NamedModel) => ({ connection, provider, model });

const blankStep = {
  firstOutputMs: null,
  durationMs: null,
  promptTokens: 0,
  completionTokens: 0,
  finishReason: null,
} as const;

/** The prompt of the turn's first call. For a continued turn, without the results of the decided calls. */
function firstPrompt(input: TurnInput, { hooks }: TurnOutcome) {
  const { continued } = input;
  const before = hooks.filter(({ event }) => event === "conversation_start" || event === "message_received");
  const context = continued ? (continued.context ?? null) : hookContext(before);
  return callOptions(input, { context, prompt: continued?.messages ?? [] }, "auto").prompt;
}

function settingsOf({ settings, limits }: TurnInput): TurnDebug["settings"] {
  const { thinking, temperature = null, maxOutputTokens = null } = settings;
  return { thinking, temperature, maxOutputTokens, maxSteps: limits.maxSteps };
}

function toolsOf({ tools }: TurnInput, scrub: Scrub): TurnDebug["tools"] {
  return [...tools].slice(0, mostTools).map(([modelName, { name, description, needsApproval }]) => ({
    name,
    modelName,
    needsApproval,
    description: shorten(scrub(description), longestDescription),
  }));
}

/** The longest provider response, in characters. */
const longestAnswer = 1_000;

/** A failed model call in stored form, with the provider's own text. */
function keptFailure({ code, message, hint, cause }: Failure, scrub: Scrub): NonNullable<TurnDebug["failure"]> {
  const said = code === "internal" ? null : answerIn(cause);
  return { code, message, hint: hint ?? null, said: said && shorten(scrub(said), longestAnswer) };
}

/**
 * A provider's error response; null without one. Connection errors are omitted, since they contain internal addresses.
 */
function answerIn(cause: unknown): string | null {
  if (APICallError.isInstance(cause)) {
    return (cause.statusCode ?? 0) < 400 ? null : cause.responseBody || cause.message;
  }
  if (cause instanceof BlockedReply) return cause.message;
  // An error inside a stream is data, not an `Error`.
  return cause === undefined || cause instanceof Error ? null : describeCause(cause);
}
