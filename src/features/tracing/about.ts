import { clip } from "../../core/text/text.ts";
import type { SpanRef } from "../../core/tracing.ts";
import { rootOf, type TraceRecord } from "./record.ts";

/** The conversation of a trace, and its thread. Background work has its own thread (spec "Tracing"). */
export function threadOf({ traced }: Pick<TraceRecord, "traced">): { thread: string; conversationRef: string } {
  if (traced.kind === "turn") {
    const { conversationRef } = traced.turn;
    return { thread: conversationRef, conversationRef };
  }
  const { conversationRef } = traced.completion;
  return { thread: `${conversationRef}-service`, conversationRef };
}

/** The texts of the question, without the agent's secrets. */
export function askedTexts({ traced }: Pick<TraceRecord, "traced">): string[] {
  if (traced.kind === "turn") return traced.turn.fresh.map((text) => traced.turn.scrub(text));
  const { scrub, prompt } = traced.completion;
  return [scrub(prompt)];
}

/** `askedTexts` as one value; a single message is a text. */
export function askedText(recorded: Pick<TraceRecord, "traced">): string | string[] {
  const texts = askedTexts(recorded);
  return texts.length === 1 ? (texts[0] ?? "") : texts;
}

/** Links to the trace of the turn that this one continues, and to the tool call that started this turn. */
export function linksOf({ traced }: TraceRecord): SpanRef[] {
  if (traced.kind === "completion") return [];
  const { continues } = traced.turn;
  return [...(continues === null ? [] : [rootOf(continues)]), ...(traced.askedBy ? [traced.askedBy] : [])];
}

/** How much of one value a span contains, and how much of all values a trace contains, in UTF-16 units. */
const [longestValue, longestTrace] = [64 * 1024, 1024 * 1024];

/** Formats the values of one trace, and cuts each to the length that the trace has left. */
export class Texts {
  #left = longestTrace;

  /** A text unchanged, another value as JSON; undefined for none. */
  of(value: unknown): string | undefined {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === undefined || text === "") return undefined;
    const most = Math.min(longestValue, this.#left);
    const shown = text.length <= most ? text : `${clip(text, most)}… (${text.length} characters)`;
    this.#left = Math.max(0, this.#left - shown.length);
    return shown;
  }
}
