import { channels } from "../core/channels/channels.ts";
import type { Clock } from "../core/ports.ts";
import { elapsedMs } from "../core/time/elapsed.ts";
import { askModel } from "./ask-model.ts";
import { StepPlanner } from "./asking.ts";
import { classifyFailure, OutOfTime } from "./failure.ts";
import { pendingCall, TurnFold } from "./fold.ts";
import { hookContext, isBuffered, type Reply, runHooks } from "./hooks.ts";
import type { ToolCall } from "./step.ts";
import { callTool, needsApproval, type ToolResult, wireResult, withheldOf } from "./tools.ts";
import type {
  AbortReason,
  Continuation,
  HookEvent,
  HookExecution,
  Tell,
  TurnEvent,
  TurnInput,
  TurnOutcome,
} from "./types.ts";

/** The most tool calls made in one step: each may be another agent's whole turn or a request to a third party. */
const mostCalls = 64;

const tooMany: ToolResult = {
  ok: false,
  error: `Only ${mostCalls} calls are made at once: make this one again if it is still needed`,
};

/**
 * Runs a turn: calls the model, runs the tool calls, and repeats both until the model has answered. Emits the events
 * and returns the outcome; never rejects. `signal.reason` is the `AbortReason`.
 */
export async function run(input: TurnInput, signal: AbortSignal, clock: Clock, tell: Tell): Promise<TurnOutcome> {
  const turn = new TurnFold(clock, input);
  const buffered = isBuffered(input.hooks);
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  if (signal.aborted) forward();
  else signal.addEventListener("abort", forward, { once: true });
  // The turn's time limit does not cover hooks, which have their own limits.
  let cancelLimit = () => {};
  const work: Work = { input, turn, signal: controller.signal, clock, tell, endsAt: Number.POSITIVE_INFINITY };
  const limit = () => {
    work.endsAt = clock.now() + input.limits.turnMs;
    cancelLimit = clock.after(input.limits.turnMs, () => controller.abort(new OutOfTime("The turn took too long")));
  };

  try {
    if (!input.continued) await prepareReply(work);
    limit();
    if (input.continued) await answerDecided(work, input.continued);
    const first = input.continued ? 1 : 0;
    const asking = new StepPlanner(input.limits.maxSteps);
    for (let index = first; ; index += 1) {
      const plan = asking.plan(index);
      const last = plan.toolUse !== "auto";
      // The tokens of the first model call were reserved before the turn started.
      if (index > first) await input.reserve?.(turn.outcome(), turn.nextCall);
      tell({ type: "step-start", index, stepType: plan.stepType });
      const step = await askModel(work, { ...plan, buffered });

      const heeded = step.calls.slice(0, mostCalls);
      const waiting =
        last || !input.conversation || !channels[input.origin.channel].approvals
          ? []
          : heeded.filter((call) => needsApproval(input, call));
      if (!last) {
        const free = step.calls.filter((call) => !waiting.includes(call));
        await makeCalls(work, free, async (call, emit) =>
          heeded.includes(call) ? callTool(input, call, { signal: work.signal, clock, emit }) : tooMany,
        );
        controller.signal.throwIfAborted();
      }
      if (waiting.length > 0) {
        cancelLimit();
        const suspended = turn.suspend(step);
        for (const { id, tool, shown } of waiting) tell({ type: "approval-request", id, name: tool, args: shown });
        tell({ type: "step-finish", index, finishReason: "approval", usage: step.usage });
        if (turn.text !== "") await concludeReply(work, buffered);
        return {
          ...turn.outcome(),
          status: "approval",
          pending: waiting.map(pendingCall),
          suspended,
          context: turn.context,
        };
      }
      const finishReason = turn.finish(step);
      tell({ type: "step-finish", index, finishReason, usage: step.usage });
      // Throws when the model can't answer.
      if (asking.goesOn(step, turn.called)) continue;
      cancelLimit();
      await concludeReply(work, buffered);
      return { ...turn.outcome(), status: "done" };
    }
  } catch (error) {
    const { aborted, reason } = controller.signal;
    const cause = aborted ? reason : error;
    // Cancels tool calls that are still running; after a good end there are none.
    controller.abort("stop" satisfies AbortReason);
    turn.breakOff(aborted);
    // No hook approved the buffered text, and it was never shown.
    if (buffered) turn.replaceText({ text: "", hookId: null });
    if (isAbortReason(cause)) return { ...turn.outcome(), status: "aborted", reason: cause };
    return { ...turn.outcome(), status: "failed", failure: classifyFailure(cause) };
  } finally {
    cancelLimit();
    signal.removeEventListener("abort", forward);
  }
}

/** The state that the parts of a run share. */
interface Work {
  input: TurnInput;
  turn: TurnFold;
  signal: AbortSignal;
  clock: Clock;
  tell: Tell;
  /** The end of the turn's time limit, in milliseconds since the epoch. */
  endsAt: number;
}

/** Runs the hooks before the model call, which gets their results. */
async function prepareReply(work: Work): Promise<void> {
  if (work.input.hooks.length > 0) {
    const begun = await noteHooks(work, "conversation_start");
    work.turn.context = hookContext([...begun, ...(await noteHooks(work, "message_received"))]);
  }
  work.signal.throwIfAborted();
}

/** Runs the hooks after a complete reply. */
async function concludeReply(work: Work, buffered: boolean): Promise<void> {
  if (work.input.hooks.length === 0) return;
  const reply: Reply = { text: work.turn.text, hookId: null };
  if (buffered) await sayReply(work, reply);
  else await noteHooks(work, "response_generated", reply);
  await noteHooks(work, "response_sent", reply);
}

/** Emits a buffered reply after its hooks ran; the hooks' events follow the text (spec, the event table). */
async function sayReply(work: Work, reply: Reply): Promise<void> {
  const told: TurnEvent[] = [];
  await noteHooks({ ...work, tell: (event) => void told.push(event) }, "response_generated", reply);
  const aborted = work.signal.aborted;
  if (!aborted) {
    work.turn.replaceText(reply);
    if (reply.text !== "") work.tell({ type: "text-delta", text: reply.text });
  }
  for (const event of told) work.tell(event);
  if (aborted) work.signal.throwIfAborted();
}

const noReply: Reply = { text: "", hookId: null };

async function noteHooks({ input, turn, signal, clock, tell }: Work, event: HookEvent, reply = noReply) {
  const executions: HookExecution[] = [];
  await runHooks(input, event, reply, { signal, clock }, (execution) => {
    turn.hooks.push(execution);
    executions.push(execution);
    tell({ type: "hook-execution", execution });
  });
  return executions;
}

/** Makes the calls that were decided while the turn waited for approval, as a step of their own. */
async function answerDecided(work: Work, { decided }: Continuation): Promise<void> {
  const { input, turn, signal, clock, tell } = work;
  const step = turn.begin(0, "tool-result", null);
  tell({ type: "step-start", index: 0, stepType: "tool-result" });
  step.takeDecided(decided);
  turn.note(step);
  for (const { id, tool, shown } of step.calls) tell({ type: "tool-call", id, name: tool, args: shown });
  const decisions = new Map(decided.map((decision) => [decision.toolCallId, decision]));
  await makeCalls(work, step.calls, async (call, emit): Promise<ToolResult> => {
    const decision = decisions.get(call.id);
    if (decision?.approved) return callTool(input, call, { signal, clock, emit, approved: true });
    if (decision?.expired) return { ok: false, error: "Nobody decided about this call in time", withheld: "expired" };
    const reason = decision?.reason ? `: ${decision.reason}` : "";
    return { ok: false, error: `A person refused this call${reason}`, withheld: "refused" };
  });
  signal.throwIfAborted();
  turn.finishDecided(step);
  tell({ type: "step-finish", index: 0, finishReason: "tool-calls", usage: step.usage });
}

/** Makes all calls at once; emits the events of the tools, and each result as it arrives. `make` never rejects. */
async function makeCalls(
  { turn, clock, tell }: Work,
  calls: readonly ToolCall[],
  make: (call: ToolCall, emit: Tell) => Promise<ToolResult>,
): Promise<void> {
  const startedAt = clock.now();
  let open = true;
  // A tool may still emit events after its time-out.
  const emit: Tell = (event) => {
    if (open) tell(event);
  };
  const answer = async (call: ToolCall) => {
    const result = await make(call, emit);
    const taken = turn.answer(call, { ...result, durationMs: elapsedMs(clock, startedAt) });
    const { ok, durationMs } = taken;
    const { id, tool: name } = call;
    tell({ type: "tool-result", id, name, ok, durationMs, result: wireResult(taken), ...withheldOf(taken) });
  };
  await Promise.all(calls.map(answer));
  open = false;
}

const abortReasons = {
  disconnect: true,
  stop: true,
  shutdown: true,
  "lease-lost": true,
  superseded: true,
} as const satisfies Record<AbortReason, true>;

function isAbortReason(value: unknown): value is AbortReason {
  return typeof value === "string" && Object.hasOwn(abortReasons, value);
}
