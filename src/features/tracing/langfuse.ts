import { createObservationAttributes, LangfuseOtelSpanAttributes as names } from "@langfuse/tracing";
import type { Attributes, Span } from "../../core/tracing.ts";
import { askedText, linksOf, Texts, threadOf } from "./about.ts";
import type { RecordedCall, RecordedHook, RecordedStep, TraceRecord } from "./record.ts";

type Kind = Parameters<typeof createObservationAttributes>[0];

interface ObservationFields {
  input?: unknown;
  output?: unknown;
  metadata: Record<string, unknown>;
  level?: "WARNING";
  statusMessage?: string;
}

/**
 * A turn's spans for its agent's project: the turn, and below it each model call, tool call and hook, without the
 * model's name and tokens (spec "Tracing").
 */
export function langfuseSpans(recorded: TraceRecord): Span[] {
  const { root, outcome, problem, startMs, endMs } = recorded;
  const texts = new Texts();
  const ofTrace = traceAttributes(recorded);
  const span = (
    own: Pick<Span, "spanId" | "name" | "startMs" | "endMs" | "failure"> & { kind: Kind },
    { input, output, ...about }: ObservationFields,
  ): Span => {
    const { kind, failure, ...rest } = own;
    const level = failure === null ? undefined : ({ level: "ERROR", statusMessage: failure } as const);
    const shown = { ...about, ...level, input: texts.of(input), output: texts.of(output) };
    const attributes = { ...ofTrace, ...(createObservationAttributes(kind, shown) as Attributes) };
    const isRoot = own.spanId === root.spanId;
    return {
      ...rest,
      traceId: root.traceId,
      parentSpanId: isRoot ? null : root.spanId,
      kind: "internal",
      failure,
      attributes,
      links: isRoot ? linksOf(recorded) : [],
    };
  };
  const stepSpan = ({ spanId, index, startMs, endMs: end, finishReason, retries }: RecordedStep) => {
    const said = outcome?.steps.find((step) => step.index === index);
    const failure = finishReason === null && problem?.isError ? problem.message : null;
    const { text = "", reasoning = "", toolCalls = [] } = said ?? {};
    const output = {
      ...(text === "" ? {} : { text }),
      ...(reasoning === "" ? {} : { reasoning }),
      ...(toolCalls.length === 0
        ? {}
        : { toolCalls: toolCalls.map(({ toolName, args }) => ({ tool: toolName, args })) }),
    };
    return span(
      { spanId, name: `step ${index + 1}`, startMs, endMs: end ?? endMs, kind: "span", failure },
      {
        output: said ? output : undefined,
        metadata: {
          finish_reason: finishReason ?? undefined,
          failed_attempts: retries.length > 0 ? retries : undefined,
        },
      },
    );
  };
  const callSpan = ({ spanId, id, tool, args, startMs, end }: RecordedCall) => {
    const failure = end?.failed ? "The call failed" : null;
    return span(
      { spanId, name: tool, startMs, endMs: end?.ms ?? endMs, kind: "tool", failure },
      { input: args, output: end?.result, metadata: { tool_call_id: id, ...(end ? {} : { unfinished: true }) } },
    );
  };
  const hookSpan = ({ spanId, execution, endMs: end }: RecordedHook) => {
    const { hookId, event, toolName, error, args, result, durationMs } = execution;
    return span(
      { spanId, name: toolName, startMs: end - durationMs, endMs: end, kind: "tool", failure: error },
      { input: args, output: result ?? undefined, metadata: { hook_id: hookId, hook_event: event } },
    );
  };
  const name = nameOf(recorded);
  return [
    span(
      { spanId: root.spanId, name, startMs, endMs, kind: "agent", failure: problem?.isError ? problem.message : null },
      { input: askedText(recorded), output: outcome?.text, metadata: aboutOf(recorded), ...noticeOf(recorded) },
    ),
    ...recorded.steps.map(stepSpan),
    ...recorded.calls.map(callSpan),
    ...recorded.hooks.map(hookSpan),
  ];
}

const nameOf = ({ traced }: TraceRecord) =>
  traced.kind === "turn" ? traced.turn.agent.slug : traced.completion.purpose;

/** The attributes of all spans of a trace: its session, its name, and the conversation (spec "Tracing"). */
function traceAttributes(recorded: TraceRecord): Attributes {
  const { traced } = recorded;
  const { thread, conversationRef } = threadOf(recorded);
  return {
    [names.TRACE_NAME]: nameOf(recorded),
    [names.TRACE_SESSION_ID]: thread,
    [`${names.TRACE_METADATA}.conversation_id`]: conversationRef,
    [names.TRACE_TAGS]: [traced.kind === "turn" ? traced.turn.origin.channel : "background"],
  };
}

/** The problem of a turn; a stopped turn did not fail. */
function noticeOf({ problem }: TraceRecord): Pick<ObservationFields, "level" | "statusMessage"> {
  return problem && !problem.isError ? { level: "WARNING", statusMessage: problem.message } : {};
}

function aboutOf({ traced, status }: TraceRecord): ObservationFields["metadata"] {
  if (traced.kind === "completion") {
    const { agent, conversationRef } = traced.completion;
    return { status, conversation_id: conversationRef, agent: agent.slug };
  }
  const { id, agent, door, origin, requestId, conversationRef, continues, askedBy } = traced.turn;
  return {
    status,
    conversation_id: conversationRef,
    agent: agent.slug,
    turn_id: id,
    request_id: requestId,
    door,
    channel: origin.channel,
    source: origin.source,
    ...(continues === null ? {} : { continues }),
    ...(askedBy === null ? {} : { asked_by_turn: askedBy.turnId }),
  };
}
