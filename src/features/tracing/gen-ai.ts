import type { Attributes, Span, SpanRef } from "../../core/tracing.ts";
import { isAnswer } from "../../turn/observers.ts";
import { askedTexts, linksOf, Texts, threadOf } from "./about.ts";
import type { RecordedCall, RecordedHook, RecordedStep, TraceRecord } from "./record.ts";

/** The providers' names in OpenTelemetry that differ from the engine's. */
const providers: Readonly<Record<string, string>> = { google: "gcp.gemini", mistral: "mistral_ai" };

/**
 * A turn's spans for the operator's own collector, by OpenTelemetry's conventions for generative AI, with model and
 * tokens. The turn of a called agent is part of the caller's trace.
 */
export function genAiSpans(recorded: TraceRecord, parent: SpanRef | null): Span[] {
  const { traced, root, outcome, problem, startMs, endMs, status } = recorded;
  const { agent, model } = traced.kind === "turn" ? traced.turn : traced.completion;
  const texts = new Texts();
  const traceId = parent?.traceId ?? root.traceId;
  const { thread, conversationRef } = threadOf(recorded);
  const common: Attributes = {
    "gen_ai.agent.id": agent.id,
    "gen_ai.agent.name": agent.slug,
    "gen_ai.conversation.id": thread,
    conversation_id: conversationRef,
    "gen_ai.provider.name": providers[model.provider] ?? model.provider,
  };
  const ofModel = { "gen_ai.request.model": model.model };
  const span = (
    own: Pick<Span, "spanId" | "name" | "startMs" | "endMs"> & Partial<Span>,
    attributes: Attributes,
    errorType?: string,
  ): Span => ({
    traceId,
    parentSpanId: root.spanId,
    kind: "internal",
    failure: null,
    links: [],
    ...own,
    attributes: { ...common, ...attributes, ...(own.failure ? { "error.type": errorType } : {}) },
  });
  const stepSpan = ({
    spanId,
    index,
    startMs,
    endMs: end,
    finishReason,
    usage,
    retries,
    model: called,
  }: RecordedStep) => {
    const said = outcome?.steps.find((step) => step.index === index);
    const failed = finishReason === null && problem?.isError;
    const parts = [
      ...(said?.reasoning ? [{ type: "reasoning", content: said.reasoning }] : []),
      ...(said?.text ? [{ type: "text", content: said.text }] : []),
      ...(said?.toolCalls ?? []).map((call) => ({
        type: "tool_call",
        id: call.toolCallId,
        name: call.toolName,
        arguments: call.args,
      })),
    ];
    return span(
      {
        spanId,
        name: `chat ${called.model}`,
        kind: "client",
        startMs,
        endMs: end ?? endMs,
        failure: failed ? problem.message : null,
      },
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providers[called.provider] ?? called.provider,
        "gen_ai.request.model": called.model,
        "gen_ai.usage.input_tokens": usage.promptTokens,
        "gen_ai.usage.output_tokens": usage.completionTokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
        "gen_ai.response.finish_reasons": finishReason === null ? undefined : [finishReason],
        "gen_ai.output.messages": parts.length > 0 ? texts.of([message("assistant", parts, finishReason)]) : undefined,
        "agent_engine.failed_attempts": retries.length > 0 ? retries : undefined,
      },
      problem?.code,
    );
  };
  const toolSpan = (
    own: Pick<Span, "spanId" | "startMs" | "endMs" | "failure">,
    { tool, id, args, result }: { tool: string; id: string; args: unknown; result: unknown },
    more: Attributes = {},
  ) =>
    span(
      { ...own, name: `execute_tool ${tool}` },
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.call.arguments": texts.of(args),
        "gen_ai.tool.call.result": texts.of(result ?? undefined),
        ...more,
      },
      "tool_error",
    );
  const callSpan = ({ spanId, id, tool, args, startMs, end }: RecordedCall) => {
    const failure = end?.failed ? "The call failed" : null;
    return toolSpan({ spanId, startMs, endMs: end?.ms ?? endMs, failure }, { tool, id, args, result: end?.result });
  };
  const hookSpan = ({ spanId, execution, endMs: end }: RecordedHook) => {
    const { hookId, event, toolName, error, args, result, durationMs } = execution;
    const own = { spanId, startMs: end - durationMs, endMs: end, failure: error };
    return toolSpan(own, { tool: toolName, id: hookId, args, result }, { "agent_engine.hook.event": event });
  };
  const isTurn = traced.kind === "turn";
  const answers = isTurn ? recorded.steps.filter(({ index }) => isAnswer(traced.turn, index)) : recorded.steps;
  const asked = askedTexts(recorded).map((content) => message("user", [{ type: "text", content }]));
  return [
    span(
      {
        spanId: root.spanId,
        parentSpanId: parent?.spanId ?? null,
        startMs,
        endMs,
        name: isTurn ? `invoke_agent ${agent.slug}` : traced.completion.purpose,
        failure: problem?.isError ? problem.message : null,
        links: linksOf(recorded).filter(({ traceId: other }) => other !== traceId),
      },
      {
        ...(isTurn ? { "gen_ai.operation.name": "invoke_agent", ...doorOf(traced.turn) } : {}),
        ...ofModel,
        "gen_ai.usage.input_tokens": outcome?.usage.promptTokens,
        "gen_ai.usage.output_tokens": outcome?.usage.completionTokens,
        "gen_ai.input.messages": texts.of(asked),
        "gen_ai.output.messages": outcome?.text
          ? texts.of([message("assistant", [{ type: "text", content: outcome.text }], status)])
          : undefined,
        "agent_engine.turn.status": status,
        "agent_engine.turn.first_output_ms": outcome?.firstOutputMs ?? undefined,
      },
      problem?.code,
    ),
    ...answers.map(stepSpan),
    ...recorded.calls.map(callSpan),
    ...recorded.hooks.map(hookSpan),
  ];
}

const doorOf = ({
  id,
  door,
  origin,
  requestId,
}: Extract<TraceRecord["traced"], { kind: "turn" }>["turn"]): Attributes => ({
  "agent_engine.turn.id": id,
  "agent_engine.request.id": requestId,
  "agent_engine.door": door,
  "agent_engine.channel": origin.channel,
});

const message = (role: string, parts: readonly object[], finishReason?: string | null) => ({
  role,
  parts,
  ...(finishReason ? { finish_reason: finishReason } : {}),
});
