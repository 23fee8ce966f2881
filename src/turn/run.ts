import { pause } from "../core/pause.ts";
import type { Clock } from "../core/ports.ts";
import { Blocked, classifyFailure, isRetryable, retryDelayMs } from "./failure.ts";
import { pendingCall, TurnFold } from "./fold.ts";
import { ModelCall, ProviderTimeout } from "./model-call.ts";
import { callOptions } from "./prompt.ts";
import type { StepFold, ToolCall } from "./step.ts";
import { type Answer, callTool, needsApproval, type ToolResult, wireResult } from "./tools.ts";
import type { AbortReason, Resumed, TurnEvent, TurnInput, TurnOutcome } from "./types.ts";

/** How often one model call is tried while nothing came out of it. */
const attempts = 3;

/**
 * Runs a turn: calls the model, runs the tools it asks for, and calls it again, until it has nothing more to ask.
 * Yields what happens and returns how it ended; never throws. `signal.reason` is the `AbortReason`.
 */
export async function* run(
  input: TurnInput,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<TurnEvent, TurnOutcome> {
  const turn = new TurnFold(clock, input);
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  const cancelLimit = clock.after(input.limits.turnMs, () =>
    controller.abort(new ProviderTimeout("The turn took too long")),
  );

  try {
    if (input.resumed) yield* answerResumed(input, input.resumed, turn, controller.signal, clock);
    const first = input.resumed ? 1 : 0;
    for (let index = first; ; index += 1) {
      const last = index + 1 >= input.limits.maxSteps + first;
      const stepType = index === 0 ? "initial" : "tool-result";
      yield { type: "step-start", index, stepType };

      const options = callOptions(input, turn.prompt, last);
      let step = turn.begin(index, stepType);
      for (let attempt = 1; ; attempt += 1) {
        controller.signal.throwIfAborted();
        const call = new ModelCall(input, options, controller.signal, clock);
        try {
          for (let part = await call.next(); part; part = await call.next()) {
            const event = step.take(part);
            if (event) {
              turn.note(step);
              yield event;
            }
          }
          requireFinish(step);
          break;
        } catch (error) {
          const retry = !step.produced && attempt < attempts && !controller.signal.aborted && isRetryable(error);
          if (!retry) throw error;
          call.close();
          step = turn.begin(index, stepType);
          await pause(clock, retryDelayMs(error, attempt), controller.signal);
        } finally {
          call.close();
        }
      }

      const waiting = last || !input.conversation ? [] : step.calls.filter((call) => needsApproval(input, call));
      if (!last) {
        const free = step.calls.filter((call) => !waiting.includes(call));
        const make = (call: ToolCall) => callTool(input, call, controller.signal, clock);
        for await (const [call, result] of answers(free, make, clock)) {
          turn.answer(call, result);
          yield { type: "tool-result", id: call.id, result: wireResult(result) };
        }
        controller.signal.throwIfAborted();
      }
      if (waiting.length > 0) {
        const suspended = turn.suspend(step);
        yield { type: "step-finish", index, finishReason: "approval", usage: step.usage };
        return { ...turn.outcome(), status: "approval", pending: waiting.map(pendingCall), suspended };
      }
      const finishReason = turn.finish(step);
      yield { type: "step-finish", index, finishReason, usage: step.usage };
      if (last || step.calls.length === 0) return { ...turn.outcome(), status: "done" };
    }
  } catch (error) {
    const cause = controller.signal.aborted ? controller.signal.reason : error;
    turn.breakOff();
    if (isAbortReason(cause)) return { ...turn.outcome(), status: "aborted", reason: cause };
    const failure =
      cause instanceof ProviderTimeout
        ? ({ code: "provider-timeout", message: "Model provider timed out", cause } as const)
        : classifyFailure(cause);
    return { ...turn.outcome(), status: "failed", failure };
  } finally {
    cancelLimit();
    signal.removeEventListener("abort", forward);
    // Whatever is still under way upstream (a tool, a stream) has nobody left to answer to.
    controller.abort("stop" satisfies AbortReason);
  }
}

/** Makes the calls that a person decided about while the turn had stopped, as a step of their own. */
async function* answerResumed(
  input: TurnInput,
  { decided }: Resumed,
  turn: TurnFold,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<TurnEvent> {
  const step = turn.begin(0, "tool-result");
  yield { type: "step-start", index: 0, stepType: "tool-result" };
  step.resume(decided);
  turn.note(step);
  for (const { id, tool, shown } of step.calls) yield { type: "tool-call", id, name: tool, args: shown };
  const decisions = new Map(decided.map((decision) => [decision.toolCallId, decision]));
  const make = async (call: ToolCall): Promise<ToolResult> => {
    const decision = decisions.get(call.id);
    if (decision?.approved) return callTool(input, call, signal, clock, true);
    const reason = decision?.reason ? `: ${decision.reason}` : "";
    return { ok: false, error: `A person refused this call${reason}` };
  };
  for await (const [call, result] of answers(step.calls, make, clock)) {
    turn.answer(call, result);
    yield { type: "tool-result", id: call.id, result: wireResult(result) };
  }
  signal.throwIfAborted();
  turn.finishResumed(step);
  yield { type: "step-finish", index: 0, finishReason: "tool-calls", usage: step.usage };
}

/** Makes all calls at once, and yields each with its result as it comes. */
async function* answers(
  calls: readonly ToolCall[],
  make: (call: ToolCall) => Promise<ToolResult>,
  clock: Clock,
): AsyncGenerator<[ToolCall, Answer]> {
  const startedAt = clock.now();
  const timed = async (call: ToolCall): Promise<[ToolCall, Answer]> => {
    const result = await make(call);
    return [call, { ...result, durationMs: clock.now() - startedAt }];
  };
  const pending = new Map(calls.map((call) => [call, timed(call)]));
  while (pending.size > 0) {
    const answered = await Promise.race(pending.values());
    pending.delete(answered[0]);
    yield answered;
  }
}

/** A stream that ends without a finish reason was cut off; an empty one is no reply, and nor is what a filter emptied. */
function requireFinish(step: StepFold): void {
  if (!step.finish?.stated) throw new Error("The provider's stream ended without a finish reason");
  if (step.finish.reason === "error") throw new Error("The provider's stream finished with an error");
  if (step.finish.reason === "content-filter" && step.text === "" && step.calls.length === 0) {
    throw new Blocked(`The provider's filter let nothing through (${step.finish.raw ?? "no reason given"})`);
  }
}

function isAbortReason(value: unknown): value is AbortReason {
  return value === "disconnect" || value === "stop" || value === "shutdown" || value === "lease-lost";
}
