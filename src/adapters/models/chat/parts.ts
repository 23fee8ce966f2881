import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { PartsReader } from "../../../core/ports.ts";
import { eventReader } from "../../event-stream.ts";
import type { Bytes } from "../../excerpt.ts";
import { boundEvents } from "../event-bound.ts";
import { brokenOff } from "../failures.ts";
import { Chunks } from "./chunks.ts";
import type { Habit } from "./thoughts.ts";
import { WholeBody } from "./whole-body.ts";

type Piece = Awaited<ReturnType<Bytes["read"]>>;

/** How long a body may go on after its `[DONE]`, in milliseconds, before its connection is closed. */
const longestRestMs = 250;

/**
 * Reads the parts of a chat completion from a stream or a single JSON body. `[DONE]` ends the reply, even on an open
 * connection. A single reader does everything: a chain of streams, or more promises for each piece, would cost as much
 * again as the reading.
 */
export function readParts(
  body: Bytes,
  { url, signal, habit }: { url: string; signal: AbortSignal | undefined; habit: Habit },
): PartsReader & { read(): Promise<{ done: boolean; value?: readonly LanguageModelV4StreamPart[] }> } {
  let parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  const chunks = new Chunks({ enqueue: (part) => parts.push(part) }, habit);
  const readEvents = eventReader((event) => chunks.event(event));
  const whole = new WholeBody();
  const decoder = new TextDecoder();
  const bound = boundEvents();
  let over = false;
  let failure: { error: unknown } | null = null;

  const take = ({ done, value }: Piece) => {
    if (over) return;
    if (!done) bound(value);
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
    if (whole.take(text)) {
      if (done) chunks.completion(whole.end(url));
    } else if (done) {
      chunks.cut = true;
      // The last event may end without a blank line.
      readEvents(`${text}\n\n`);
    } else readEvents(text);
    if (done || chunks.done) end(done);
  };
  const end = (done: boolean | undefined) => {
    over = true;
    chunks.end();
    if (!done) readOn(body);
  };
  const fail = (error: unknown) => {
    failure = { error };
    // Not awaited, since a provider may never settle the cancel.
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
      // Returns the parts from before the failure first. Even a piece without parts shows that the provider is alive.
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

/** Reads a body to its end, so that its connection can be reused. If that takes long, closes the connection. */
function readOn(body: Bytes): void {
  const cancel = () => void body.cancel().catch(() => {});
  const timer = setTimeout(cancel, longestRestMs);
  const read = async () => {
    while (!(await body.read()).done);
  };
  void read()
    .catch(cancel)
    .finally(() => clearTimeout(timer));
}
