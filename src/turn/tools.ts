import type { Clock } from "../core/ports.ts";
import { scrubJson } from "../core/scrub/json.ts";
import { clip } from "../core/text/text.ts";
import type { ToolCall } from "./step.ts";
import type { JsonValue, Tell, TurnInput, Withheld } from "./types.ts";

/** The result of a tool call, or an error text that the model reads before it goes on. */
export type ToolResult = { ok: true; value: JsonValue } | { ok: false; error: string; withheld?: Withheld };

/** A result, with the duration of its call. */
export type Answer = ToolResult & { durationMs: number };

/** A result in the form of events and transcripts. */
export function wireResult(result: ToolResult): JsonValue {
  return result.ok ? result.value : { error: result.error };
}

/** Why a call was withheld; empty for a call that was made. */
export const withheldOf = (result: ToolResult): { withheld?: Withheld } =>
  result.ok || !result.withheld ? {} : { withheld: result.withheld };

/**
 * Whether a person must approve a tool call. A call with a secret in its arguments can't be shown, so nobody can
 * approve it.
 */
export function needsApproval({ tools }: TurnInput, call: ToolCall): boolean {
  return call.malformed === undefined && !holdsSecret(call) && (tools.get(call.name)?.needsApproval ?? false);
}

const holdsSecret = ({ args, shown }: ToolCall) => shown !== args;

/** The error for the model when nobody can approve its call. */
const unapproved = (call: ToolCall) =>
  holdsSecret(call)
    ? "A person has to approve this, and may not see the secret in its arguments: use its placeholder, or leave it out"
    : "A person has to approve this, which nobody can here";

/** The part of a turn's input that its tools need. */
export type ToolScope = Pick<
  TurnInput,
  "turnId" | "requestId" | "conversation" | "limits" | "origin" | "scrub" | "state" | "tools"
>;

interface CallOptions {
  signal: AbortSignal;
  clock: Clock;
  /** Whether a person approved the call; a hook's call counts as approved by the operator. */
  approved?: boolean;
  emit?: Tell;
}

/** The most characters of an error that the model gets. */
const longestError = 4_000;

const ignore = () => {};

/**
 * The one wrapper around every tool: finds the tool, validates its arguments, ends it at the time-out even if it
 * ignores its signal, and scrubs secrets from its result. `callTool` never rejects.
 */
export async function callTool(
  input: ToolScope,
  call: ToolCall,
  { signal, clock, approved = false, emit = ignore }: CallOptions,
): Promise<ToolResult> {
  const tool = input.tools.get(call.name);
  if (!tool || (approved && tool.name !== call.tool))
    return { ok: false, error: `There is no tool named ${call.tool}` };
  if (call.malformed !== undefined) return { ok: false, error: call.malformed };
  if (tool.needsApproval && !approved) return { ok: false, error: unapproved(call), withheld: "undecidable" };
  const controller = new AbortController();
  const limit = cutOff(controller, signal, clock, tool.timeoutMs?.() ?? input.limits.toolMs);
  try {
    const args = tool.seesSecrets ? call.args : scrubJson(call.args, input.scrub);
    const work = tool.execute(tool.validate(args), {
      turnId: input.turnId,
      requestId: input.requestId,
      toolCallId: call.id,
      signal: controller.signal,
      state: input.state,
      origin: input.origin,
      conversation: input.conversation,
      emit,
    });
    return { ok: true, value: scrubJson((await Promise.race([work, limit.passed])) ?? null, input.scrub) };
  } catch (error) {
    return {
      ok: false,
      error: clip(input.scrub(error instanceof Error ? error.message : String(error)), longestError),
    };
  } finally {
    limit.release();
  }
}

function cutOff(controller: AbortController, signal: AbortSignal, clock: Clock, ms: number) {
  let release = () => {};
  const passed = new Promise<never>((_, reject) => {
    const end = (message: string) => {
      controller.abort();
      reject(new Error(message));
    };
    const onAbort = () => end("The turn was stopped");
    const cancel = clock.after(ms, () => end(`The tool did not answer within ${ms / 1000} s`));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    release = () => {
      cancel();
      signal.removeEventListener("abort", onAbort);
    };
  });
  // The loser of the race must not become an unhandled rejection.
  passed.catch(() => {});
  return { passed, release: () => release() };
}
