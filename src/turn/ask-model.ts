import type { Clock } from "../core/ports.ts";
import { pause } from "../core/time/pause.ts";
import { BlockedReply, classifyFailure, isRetryable, retryDelayMs } from "./failure.ts";
import type { TurnFold } from "./fold.ts";
import { ModelCall } from "./model-call.ts";
import { callOptions, type ToolUse } from "./prompt.ts";
import type { StepFold } from "./step.ts";
import type { StepType, Tell, TurnInput } from "./types.ts";

/** How often a model call without output is attempted, unless the input sets a number. */
const usualAttempts = 3;

interface Running {
  input: TurnInput;
  turn: TurnFold;
  signal: AbortSignal;
  clock: Clock;
  tell: Tell;
}

interface StepPlan {
  index: number;
  stepType: StepType;
  toolUse: ToolUse;
  /** Holds back text events until the reply's hooks have run. */
  buffered: boolean;
}

/** Calls the model for one step and emits its events; repeats a call without output when a retry may succeed. */
export async function askModel(running: Running, plan: StepPlan): Promise<StepFold> {
  const { input, turn, signal, clock, tell } = running;
  const { index, stepType } = plan;
  const options = callOptions(input, turn, plan.toolUse);
  const { attempts = usualAttempts } = input.limits;
  for (let attempt = 1; ; attempt += 1) {
    const step = turn.begin(index, stepType);
    signal.throwIfAborted();
    step.asked = true;
    const call = new ModelCall(input, options, signal, clock);
    try {
      await readReply(running, call, step, plan.buffered);
      requireFinish(step);
      return step;
    } catch (thrown) {
      const error = call.reasonFor(thrown);
      const retry = !step.said && attempt < attempts && !signal.aborted && isRetryable(error);
      if (!retry) throw error;
      call.close();
      turn.begin(index, stepType);
      const waitMs = retryDelayMs(error, attempt);
      tell({ type: "model-retry", index, attempt, failure: classifyFailure(error), waitMs });
      await pause(clock, waitMs, signal);
    } finally {
      call.close();
    }
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
