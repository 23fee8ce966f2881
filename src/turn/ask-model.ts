import type { Clock } from "../core/ports.ts";
import { pause } from "../core/time/pause.ts";
import { BlockedReply, classifyFailure, isRetryable, mayFallBack, retryDelayMs } from "./failure.ts";
import type { TurnFold } from "./fold.ts";
import { ModelCall } from "./model-call.ts";
import { awake, noteAnswer, noteCall, type TurnModel, type TurnModels } from "./models.ts";
import { callOptions, type ToolUse } from "./prompt.ts";
import type { StepFold } from "./step.ts";
import type { Limits, StepType, Tell, TurnInput } from "./types.ts";

/** How often a model call without output is attempted, unless the input sets a number. */
const usualAttempts = 3;

interface Running {
  input: TurnInput;
  turn: TurnFold;
  signal: AbortSignal;
  clock: Clock;
  tell: Tell;
  /** The end of the turn's time limit, in milliseconds since the epoch. */
  endsAt: number;
}

type Silences = Pick<Limits, "connectMs" | "silenceMs">;

interface StepPlan {
  index: number;
  stepType: StepType;
  toolUse: ToolUse;
  /** Holds back text events until the reply's hooks have run. */
  buffered: boolean;
}

/**
 * Calls the models for one step, in their order, until one of them answers; emits its events. Another model is called
 * only while the step has no output.
 */
export async function askModel(running: Running, plan: StepPlan): Promise<StepFold> {
  const [first] = running.input.models;
  const models = awake(running.input.models);
  const { index } = plan;
  if (models[0] !== first) {
    running.tell({ type: "model-fallback", index, from: first.named, to: models[0].named, failure: null });
  }
  return askInOrder(running, plan, models);
}

async function askInOrder(running: Running, plan: StepPlan, [model, ...others]: TurnModels): Promise<StepFold> {
  const [next, ...rest] = others;
  if (!next) return askRepeatedly(running, plan, model);
  try {
    return await callModel(running, plan, model, shareOf(running, others.length + 1));
  } catch (error) {
    if (running.turn.said || running.signal.aborted || !mayFallBack(error)) throw error;
    const failure = classifyFailure(error);
    running.tell({ type: "model-fallback", index: plan.index, from: model.named, to: next.named, failure });
  }
  return askInOrder(running, plan, [next, ...rest]);
}

/** The longest silences of a model when `left` models are left: an equal share of the turn's remaining time. */
function shareOf({ input: { limits }, clock, endsAt }: Running, left: number): Silences {
  const share = Math.max(1, Math.floor((endsAt - clock.now()) / left));
  return { connectMs: Math.min(limits.connectMs, share), silenceMs: Math.min(limits.silenceMs, share) };
}

/** Calls the last model, and repeats a call without output when a retry may succeed. */
async function askRepeatedly(running: Running, plan: StepPlan, model: TurnModel): Promise<StepFold> {
  const { input, turn, signal, clock, tell } = running;
  const { index, stepType } = plan;
  const { attempts = usualAttempts } = input.limits;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callModel(running, plan, model, input.limits);
    } catch (error) {
      const retry = !turn.said && attempt < attempts && !signal.aborted && isRetryable(error);
      if (!retry) throw error;
      turn.begin(index, stepType, model.named);
      const waitMs = retryDelayMs(error, attempt);
      tell({ type: "model-retry", index, model: model.named, attempt, failure: classifyFailure(error), waitMs });
      await pause(clock, waitMs, signal);
    }
  }
}

async function callModel(
  running: Running,
  { index, stepType, toolUse, buffered }: StepPlan,
  model: TurnModel,
  limits: Silences,
): Promise<StepFold> {
  const { input, turn, signal, clock } = running;
  const step = turn.begin(index, stepType, model.named);
  signal.throwIfAborted();
  step.asked = true;
  noteCall(model);
  const options = callOptions(input, turn.promptFor(model.named), toolUse);
  const call = new ModelCall({ model, options, limits, signal, clock });
  try {
    await readReply(running, call, step, buffered);
    requireFinish(step);
    noteAnswer(model, true);
    return step;
  } catch (thrown) {
    const error = call.reasonFor(thrown);
    if (step.said) noteAnswer(model, true);
    else if (!signal.aborted && mayFallBack(error)) noteAnswer(model, false);
    throw error;
  } finally {
    call.close();
  }
}

async function readReply({ turn, signal, tell }: Running, call: ModelCall, step: StepFold, buffered: boolean) {
  for (let parts = call.heard(await call.read()); parts; parts = call.heard(await call.read())) {
    for (const part of parts) {
      const event = step.take(part);
      if (!event) continue;
      turn.note(step);
      tell(buffered && event.type === "text-delta" ? { type: "produced" } : event);
      // An observer may have stopped the turn during the event.
      signal.throwIfAborted();
    }
  }
}

/** Throws when the stream failed, ended without a finish reason, or was emptied by the provider's filter. */
function requireFinish(step: StepFold): void {
  if (!step.finish?.stated) throw new Error("The provider's stream ended without a finish reason");
  if (step.finish.reason === "error") throw new Error("The provider's stream finished with an error");
  if (step.finish.reason === "content-filter" && step.text === "" && step.calls.length === 0) {
    throw new BlockedReply(`The provider's filter let nothing through (${step.finish.raw ?? "no reason given"})`);
  }
}
