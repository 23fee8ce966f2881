import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import type { Bytes } from "../../excerpt.ts";
import { boundEvents } from "../event-bound.ts";
import { brokenOff } from "../failures.ts";
import { Chunks } from "./chunks.ts";

/**
 * The parts of a chat completion, from the bytes of its stream. One reader does all of it: each further stream of a
 * chain would cost as much as the reading itself.
 */
export function partsOf(
  body: Bytes,
  { url, signal }: { url: string; signal: AbortSignal | undefined },
): ReadableStream<readonly LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  const chunks = new Chunks({ enqueue: (part) => parts.push(part) });
  const parser = createParser({ onEvent: ({ data }) => chunks.take(data) });
  const decoder = new TextDecoder();
  const bound = boundEvents();
  let over = false;
  let failure: { error: unknown } | null = null;

  const readOn = async () => {
    const { done, value } = await body.read().catch((cause: unknown) => {
      throw signal?.aborted ? cause : brokenOff(url, cause);
    });
    if (done) {
      chunks.end();
      over = true;
      return;
    }
    bound(value);
    parser.feed(decoder.decode(value, { stream: true }));
  };

  return new ReadableStream(
    {
      async pull(controller) {
        try {
          while (parts.length === 0 && !failure) await readOn();
        } catch (error) {
          failure = { error };
          // Not awaited: a provider may never answer the cancel.
          void body.cancel().catch(() => {});
        }
        // What was said before the failure comes before it.
        if (parts.length === 0 && failure) throw failure.error;
        controller.enqueue(parts.splice(0));
        if (over) controller.close();
      },
      cancel: () => body.cancel(),
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
}
