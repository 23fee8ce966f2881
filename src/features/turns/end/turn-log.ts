import type { Services } from "../../../context/ctx.ts";
import { labelOf } from "../../../core/models/fallbacks.ts";
import { clip } from "../../../core/text/text.ts";
import { elapsedMs } from "../../../core/time/elapsed.ts";
import type { StartedTurn, TurnEnding, TurnListener, TurnObserver } from "../../../turn/observers.ts";
import type { TurnEvent, TurnOutcome } from "../../../turn/types.ts";
import { describeCause } from "./cause.ts";

/** The limits of names from callers and models, in characters and in number. */
const [longestName, mostNames] = [128, 20];

/**
 * Logs each turn with its request id: one line at its end, and one for each failure before that. No line contains texts
 * of the conversation.
 */
export function turnLog({ log, clock }: Pick<Services, "log" | "clock">): TurnObserver {
  return {
    started(turn): TurnListener {
      const { id: turnId, requestId, agent, door } = turn;
      const about = { turnId, requestId, agent: agent.slug };
      const startedAt = clock.now();
      log.debug({ ...about, door }, "A turn began");
      return {
        event(event) {
          const setback = setbackOf(event, turn);
          if (setback) log.warn({ ...about, ...setback.fields }, setback.message);
        },
        ended(ending) {
          const fields = { ...about, ...placeOf(turn), ...endingOf(ending), ms: elapsedMs(clock, startedAt) };
          if ("unrecorded" in ending || ending.outcome.status !== "failed") return log.info(fields, "A turn ended");
          const { code, cause } = ending.outcome.failure;
          log.warn({ ...fields, code, cause: describeCause(cause, turn.scrub) }, "A turn failed");
        },
      };
    },
  };
}

/** The log line of a failed part of the turn; null for all other events. */
function setbackOf(event: TurnEvent, { scrub }: StartedTurn) {
  if (event.type === "model-retry") {
    const { index: step, attempt, failure, waitMs } = event;
    const fields = { step, attempt, code: failure.code, waitMs, cause: describeCause(failure.cause, scrub) };
    return { fields, message: "A model call failed and is tried again" };
  }
  if (event.type === "model-fallback") {
    const { index: step, from, to, failure } = event;
    const fields = { step, from: labelOf(from), to: labelOf(to), code: failure?.code ?? "resting" };
    const cause = failure === null ? {} : { cause: describeCause(failure.cause, scrub) };
    return { fields: { ...fields, ...cause }, message: "A model did not answer and another one is called" };
  }
  // Withheld calls are not logged: a person decided them.
  if (event.type === "tool-result" && !event.ok && !event.withheld) {
    return {
      fields: { tool: clip(event.name, longestName), ms: event.durationMs },
      message: "A call of a tool failed",
    };
  }
  if (event.type === "hook-execution" && !event.execution.success) {
    const { hookId, event: hookEvent, toolName: tool, durationMs: ms } = event.execution;
    return { fields: { hookId, event: hookEvent, tool, ms }, message: "A hook failed" };
  }
  return null;
}

function placeOf({ conversationRef, door, origin, model, continues, askedBy, scrub }: StartedTurn) {
  return {
    conversationId: clip(scrub(conversationRef), longestName),
    door,
    channel: origin.channel,
    model: `${model.provider}:${model.model}`,
    ...(continues === null ? {} : { continues }),
    ...(askedBy === null ? {} : { askedBy: askedBy.turnId }),
  };
}

function endingOf(ending: TurnEnding) {
  if ("unrecorded" in ending) return { status: "unrecorded", reason: ending.unrecorded.code };
  const { outcome } = ending;
  const { status, usage, steps, hooks, durationMs, firstOutputMs } = outcome;
  return {
    status,
    ...(status === "aborted" ? { reason: outcome.reason } : {}),
    // Excludes the time in the queue and the time of recording.
    runMs: durationMs,
    ...(firstOutputMs === null ? {} : { firstOutputMs }),
    steps: steps.length,
    promptTokens: usage.promptTokens,
    completionTokens: usage.completionTokens,
    ...callsOf(outcome),
    ...(hooks.length === 0 ? {} : { hooks: hooks.length }),
  };
}

function callsOf({ calls }: TurnOutcome) {
  if (calls.length === 0) return {};
  const names = new Set(calls.map(({ toolName }) => clip(toolName, longestName)));
  const failed = calls.filter(({ ok, withheld }) => !ok && !withheld).length;
  return { calls: calls.length, failedCalls: failed, tools: [...names].slice(0, mostNames) };
}
