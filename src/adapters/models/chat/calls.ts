import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { StreamingToolCallTracker } from "@ai-sdk/provider-utils";
import type { JsonObject } from "../../../core/json.ts";

/** The most characters of a stream that are held back: far more than Gemini's signatures need. */
const mostHeld = 1_000_000;

/** A piece of a tool call in a chunk. */
export interface CallPiece {
  index: number | null;
  id: string | null;
  function: { name: string | null; arguments: string | null };
  /** Gemini's signature in chat completions, which must be sent back with the call. */
  thoughtSignature: string | null;
}

/** Assembles the tool calls of a stream. Servers name, number and split tool calls in many ways. */
export class Calls {
  readonly #tracker;
  /** Pieces, joined, that arrived before the name of their function, by index. */
  readonly #nameless = new Map<number, CallPiece>();
  readonly #named = new Set<number | null>();
  /** OpenRouter's details, which must be sent back instead of a signature, by call id. */
  readonly #details = new Map<string, JsonObject>();
  #held = 0;

  constructor(sink: { enqueue(part: LanguageModelV4StreamPart): void }) {
    const signed = { enqueue: (part: LanguageModelV4StreamPart) => sink.enqueue(this.#signed(part)) };
    this.#tracker = new StreamingToolCallTracker<CallPiece>(signed, {
      extractMetadata: ({ thoughtSignature }) =>
        thoughtSignature ? { openaiCompatible: { thoughtSignature } } : undefined,
      buildToolCallProviderMetadata: (metadata) => metadata,
    });
  }

  /**
   * Adds a reasoning detail: encrypted data that Gemini behind OpenRouter expects back with a call. The detail has the
   * id of the call, which may be replaced. Throws when too much is held back.
   */
  detail({ id, ...detail }: JsonObject): void {
    if (detail.type !== "reasoning.encrypted" || typeof id !== "string") return;
    this.#hold(id + JSON.stringify(detail));
    this.#details.set(id, detail);
  }

  /** Adds a piece. Throws for a call that can't get a name any more, and when too much is held back. */
  take(piece: CallPiece): void {
    const { index } = piece;
    if (index === null ? this.#named.size > 0 : this.#named.has(index)) {
      // In later pieces, some servers write a literal word for the missing name.
      const { name } = piece.function;
      this.#tracker.processDelta(name === "null" ? { ...piece, function: { ...piece.function, name: null } } : piece);
      return;
    }
    const before = index === null ? undefined : this.#nameless.get(index);
    const whole = before ? join(before, piece) : piece;
    if (index !== null && whole.function.name === null) {
      this.#hold(JSON.stringify(piece));
      this.#nameless.set(index, whole);
      return;
    }
    if (index !== null) this.#nameless.delete(index);
    this.#named.add(index);
    this.#tracker.processDelta(whole);
  }

  /** Throws for a call without a name. */
  end(): void {
    for (const piece of this.#nameless.values()) this.#tracker.processDelta(piece);
    this.#tracker.flush();
  }

  #hold(text: string): void {
    this.#held += text.length;
    if (this.#held > mostHeld)
      throw new Error(`The provider sent more than ${mostHeld} characters that belong to no call`);
  }

  #signed(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
    const reasoningDetail = part.type === "tool-call" ? this.#details.get(part.toolCallId) : undefined;
    if (part.type !== "tool-call" || !reasoningDetail) return part;
    return {
      ...part,
      providerMetadata: { openaiCompatible: { ...part.providerMetadata?.openaiCompatible, reasoningDetail } },
    };
  }
}

function join(before: CallPiece, { id, function: { name, arguments: more }, thoughtSignature }: CallPiece): CallPiece {
  return {
    index: before.index,
    id: before.id ?? id,
    function: { name, arguments: (before.function.arguments ?? "") + (more ?? "") },
    thoughtSignature: before.thoughtSignature ?? thoughtSignature,
  };
}
