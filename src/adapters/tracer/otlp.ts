import { storable } from "../../core/text/text.ts";
import type { Attributes, AttributeValue, Span } from "../../core/tracing.ts";

/**
 * A span as OTLP's JSON (opentelemetry-proto, `ExportTraceServiceRequest`), written directly as text, since spans are
 * many.
 */
export function spanJson(span: Span): string {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, failure, links } = span;
  const parent = parentSpanId === null ? "" : `"parentSpanId":"${parentSpanId}",`;
  const linked = links.map((link) => `{"traceId":"${link.traceId}","spanId":"${link.spanId}"}`).join();
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}",${parent}"name":${text(name)},"kind":${kinds[kind]},` +
    `"startTimeUnixNano":"${nanoseconds(startMs)}","endTimeUnixNano":"${nanoseconds(Math.max(startMs, endMs))}",` +
    `"attributes":${attributesJson(attributes)}${linked === "" ? "" : `,"links":[${linked}]`},` +
    `"status":${failure === null ? "{}" : `{"code":2,"message":${text(failure)}}`}}`
  );
}

/** The request for spans made by `spanJson`. */
export function requestJson(resource: Attributes, spans: readonly string[]): string {
  const scope = `{"scope":{"name":"agent-engine"},"spans":[${spans.join()}]}`;
  return `{"resourceSpans":[{"resource":{"attributes":${attributesJson(resource)}},"scopeSpans":[${scope}]}]}`;
}

const kinds = { internal: 1, client: 3 } as const satisfies Record<Span["kind"], number>;

const text = (value: string) => JSON.stringify(storable(value));

/** Appended as text, since a floating-point number would lose the last digits. */
const nanoseconds = (ms: number) => `${Math.round(ms)}000000`;

function attributesJson(attributes: Attributes): string {
  let json = "";
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    json += `${json === "" ? "" : ","}{"key":${text(key)},"value":${valueJson(value)}}`;
  }
  return `[${json}]`;
}

function valueJson(value: AttributeValue): string {
  switch (typeof value) {
    case "string":
      return `{"stringValue":${text(value)}}`;
    case "boolean":
      return `{"boolValue":${value}}`;
    case "number":
      return Number.isSafeInteger(value) ? `{"intValue":"${value}"}` : `{"doubleValue":${JSON.stringify(value)}}`;
    default:
      return `{"arrayValue":{"values":[${value.map(valueJson).join()}]}}`;
  }
}
