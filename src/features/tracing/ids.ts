import type { SpanRef } from "../../core/tracing.ts";

/**
 * The trace of a turn and its root span, both from the turn's id: whoever has the id of a turn or of a reply finds its
 * trace, and other turns can point to it, also from another process.
 */
export function rootOf(turnId: string): SpanRef {
  const traceId = turnId.replaceAll("-", "");
  // The random half of the id.
  return { traceId, spanId: traceId.slice(16) };
}
