import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import type { PartsReader } from "../../../core/ports.ts";
import type { Bytes } from "../../excerpt.ts";
import { boundEvents } from "../event-bound.ts";
import { brokenOff } from "../failures.ts";
import { Chunks } from "./chunks.ts";

type Piece = Awaited<ReturnType<Bytes["read"]>>;

/**
 * Reads the parts of a chat completion from the bytes of its stream. One reader does all of it: each stream of a chain
 * would cost as much as the reading itself, and each further promise for a piece is felt.
 */
export function readParts(
  body: Bytes,
  { url, signal }: { url: string; signal: AbortSignal | undefined },
): PartsReader & { read(): Promise<{ done: boolean; value?: readonly LanguageModelV4StreamPart[] }> } {
  let parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  const chunks = new Chunks({ enqueue: (part) => parts.push(part) });
  const parser = createParser({ onEvent: ({ data }) => chunks.take(data) });
  const decoder = new TextDecoder();
  const bound = boundEvents();
  let over = false;
  let failure: { error: unknown } | null = null;

  const take = ({ done, value }: Piece) => {
    if (over) return;
    if (done) {
      over = true;
      chunks.end();
      return;
    }
    bound(value);
    parser.feed(decoder.decode(value, { stream: true }));
  };
  const fail = (error: unknown) => {
    failure = { error };
    // Not awaited: a provider may never answer the cancel.
    void body.cancel().catch(() => {});
  };

  return {
    async read() {
      if (parts.length === 0 && !over && !failure) {
        let piece: Piece | null = null;
        try {
          piece = await body.read();
          take(piece);
        } catch (error) {
          fail(piece || signal?.aborted ? error : brokenOff(url, error));
        }
      }
      // What was said before the failure comes before it. A piece without parts shows that the provider is alive.
      if (parts.length > 0 || !(over || failure)) {
        const value = parts;
        parts = [];
        return { done: false, value };
      }
      if (failure) throw failure.error;
      return { done: true };
    },
    cancel() {
      over = true;
      parts = [];
      return body.cancel();
    },
  };
}
