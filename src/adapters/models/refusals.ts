import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { TtlCache } from "../../core/cache.ts";
import { type ModelCall, type PartsReader, type StreamingModel, shortened } from "../../core/ports.ts";
import { older, type Part, type ReducedCall, refusalOf, refusedParts, removableParts } from "./removable-parts.ts";
import { LongConversations } from "./too-long.ts";

/** How long a refusal is remembered, in milliseconds: an operator may put another model behind the same name. */
const knownMs = 30 * 60_000;

/** A model call that the model accepted, with its reply. */
interface AcceptedCall {
  call: ReducedCall;
  reader: PartsReader;
}

/** Repeats a model call until the model accepts it. `tooLong` is the call before, which was refused as too long. */
type Open = (call: ReducedCall, tooLong?: ReducedCall) => Promise<AcceptedCall>;

/** The parts at the start of a stream that contain no output. */
const openings: ReadonlySet<LanguageModelV4StreamPart["type"]> = new Set(["stream-start", "response-metadata", "raw"]);

/**
 * A model that repeats refused calls, since only a refusal shows what a model accepts: without the part that the
 * refusal names, such as the older half of a conversation that is too long, else without all settings. After a success,
 * later calls leave out these parts at once. A reply to a shortened conversation begins with the warning `shortened`.
 */
export function withoutRefused(model: StreamingModel, now: () => number): StreamingModel {
  const refused = new TtlCache<true>({ ttlMs: knownMs, limit: 100, now });
  const longConversations = new LongConversations(knownMs, now);

  const withoutKnown = (call: ReducedCall, part: Part) =>
    part.key && refused.get(part.key(call)) ? (part.leaveOut(call) ?? call) : call;

  const open: Open = async (full, refusedInStream) => {
    let call = removableParts.reduce(withoutKnown, full);
    let tooLong = refusedInStream;
    const removed = new Map<Part, string | null>();
    for (;;) {
      call = await longConversations.shorten(call);
      try {
        const { stream } = await model.doStream(call);
        for (const key of removed.values()) if (key !== null) refused.set(key, true);
        if (tooLong) await longConversations.add(tooLong, call);
        return { call, reader: stream.getReader() };
      } catch (error) {
        const refusal = refusalOf(error);
        const parts = refusedParts(refusal, call, removed);
        if (parts.length === 0) throw error;
        // A refusal that names a part which was left out was not caused by that part.
        for (const part of removed.keys()) if (part.isNamed(refusal)) removed.set(part, null);
        for (const part of parts) {
          if (part === older) tooLong = call;
          else removed.set(part, part.key?.(call) ?? null);
          call = part.leaveOut(call) ?? call;
        }
      }
    }
  };

  return {
    async doStream(call) {
      const reader = readReply(call, await open(call), open);
      return { stream: { getReader: () => reader } };
    },
  };
}

/**
 * Reads the reply to a model call. LM Studio and OpenAI report only inside the stream that a conversation is too long;
 * then the call is repeated without its older half.
 */
function readReply(full: ModelCall, first: AcceptedCall, open: Open): PartsReader {
  let accepted = first;
  let begun = false;
  let cancelled = false;
  const begin: PartsReader["read"] = async () => {
    const { call, reader } = accepted;
    const result = await reader.read();
    const parts = [result.value ?? []].flat();
    const part = parts.find(({ type }) => !openings.has(type));
    const isTooLong = part?.type === "error" && older.isNamed(refusalOf(part.error));
    const shorter = isTooLong && !cancelled ? older.leaveOut(call) : null;
    if (shorter) {
      // Not awaited, since a provider may never settle the cancel.
      void reader.cancel().catch(() => {});
      accepted = await open(shorter, call);
      if (cancelled) void accepted.reader.cancel().catch(() => {});
      return { done: false, value: [] };
    }
    begun = result.done || part !== undefined;
    if (!part || call.prompt.length === full.prompt.length) return result;
    return { done: false, value: [{ type: "stream-start", warnings: [shortened] }, ...parts] };
  };
  return {
    read: () => (begun ? accepted.reader.read() : begin()),
    cancel() {
      cancelled = true;
      return accepted.reader.cancel();
    },
  };
}
