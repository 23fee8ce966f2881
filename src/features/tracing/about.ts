import type { SpanRef } from "../../core/tracing.ts";
import { rootOf } from "./ids.ts";
import type { Recorded } from "./record.ts";

/** The conversation of a trace, and the thread that it belongs to: background work has one of its own (spec "Tracing"). */
export function threadOf({ traced }: Pick<Recorded, "traced">): { thread: string; conversationRef: string } {
  if (traced.kind === "turn") {
    const { conversationRef } = traced.turn;
    return { thread: conversationRef, conversationRef };
  }
  const { conversationRef } = traced.completion;
  return { thread: `${conversationRef}-service`, conversationRef };
}

/** The texts of the question, without the agent's secrets. */
export function askedTexts({ traced }: Pick<Recorded, "traced">): string[] {
  if (traced.kind === "turn") return traced.turn.fresh.map((text) => traced.turn.scrub(text));
  const { scrub, prompt } = traced.completion;
  return [scrub(prompt)];
}

/** The same as one value: a single message as it is. */
export function askedText(recorded: Pick<Recorded, "traced">): string | string[] {
  const texts = askedTexts(recorded);
  return texts.length === 1 ? (texts[0] ?? "") : texts;
}

/** The trace of the turn that this one continues, and the call that asked for it. */
export function linksOf({ traced }: Recorded): SpanRef[] {
  if (traced.kind === "completion") return [];
  const { continues } = traced.turn;
  return [...(continues === null ? [] : [rootOf(continues)]), ...(traced.askedBy ? [traced.askedBy] : [])];
}
