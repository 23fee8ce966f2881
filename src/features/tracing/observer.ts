import type { Services } from "../../context/ctx.ts";
import type { Collector, SpanRef } from "../../core/tracing.ts";
import type { TurnListener, TurnObserver } from "../../turn/observers.ts";
import type { AgentCollectors } from "./agent-collectors.ts";
import { genAiSpans } from "./gen-ai.ts";
import { langfuseSpans } from "./langfuse.ts";
import { Recorder, type TraceRecord, type TraceSubject } from "./record.ts";

type Dependencies = Pick<Services, "clock" | "tracer">;

/** Traces turns and completions, for their agent's project and for the operator's collector. */
export function tracingObserver(
  { clock, tracer }: Dependencies,
  { collectorOf, operator }: { collectorOf: AgentCollectors; operator: Collector | null },
): TurnObserver {
  /** The running turns. A turn of an agent that one of them calls belongs to its trace. */
  const running = new Map<string, Recorder>();

  const record = (traced: TraceSubject, agents: Collector | null, end: () => void, parent: SpanRef | null): Recorder =>
    new Recorder(traced, clock, (recorded: TraceRecord) => {
      end();
      if (agents) tracer.send(agents, () => langfuseSpans(recorded));
      if (operator) tracer.send(operator, () => genAiSpans(recorded, parent));
    });

  return {
    started(turn): TurnListener | null {
      const agents = collectorOf(turn);
      if (!agents && !operator) return null;
      const { askedBy: by } = turn;
      const askedBy = by && (running.get(by.turnId)?.call(by.toolCallId) ?? null);
      const recorder = record({ kind: "turn", turn, askedBy }, agents, () => running.delete(turn.id), askedBy);
      running.set(turn.id, recorder);
      return recorder;
    },
    completing(completion) {
      const agents = collectorOf(completion);
      if (!agents && !operator) return null;
      return record({ kind: "completion", completion }, agents, () => {}, null);
    },
  };
}
