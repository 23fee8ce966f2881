import type { EngineError } from "../../../core/errors.ts";
import { type EventSink, eventStream } from "../../../http/sse.ts";
import type { Seat, StoredReply } from "../../turns/index.ts";
import { beginningGone } from "./export.ts";
import type { Replay } from "./replay.ts";
import { eventText, refusalText, type StreamEnd } from "./wire.ts";

export type Streaming = Parameters<typeof eventStream>[0];

/** Streams the events of this process's turn after event `after`, until the turn ends or its reader disconnects. */
export function followReplay(replay: Replay, after: number, streaming: Streaming, seat: Seat): Response {
  let left = false;
  let unfollow = () => {};
  const onLeave = () => {
    left = true;
    unfollow();
  };
  const { response, sink } = eventStream({ ...streaming, onLeave });
  const refuse = (end: StreamEnd) => {
    sink.write(refusalText(end, replay.turn.conversationRef));
    sink.close();
  };
  // Some runtimes send the headers only with the first bytes of the body.
  sink.write(": ping\n\n");
  const missed = replay.behind(after);
  if (missed === null) {
    refuse(beginningGone);
    return response;
  }
  sink.writeKept(missed);
  unfollow = replay.follow(sink);
  // The reader may have disconnected before `unfollow` was set.
  if (left) unfollow();
  seat.onRevoked(({ message }) => {
    refuse({ message });
    unfollow();
  });
  return response;
}

/**
 * Writes the events of this process's turn after event `after`, until the turn ends. Then returns null, or, when the
 * first events were dropped, why the client can't follow it. Rejects once `signal` is aborted.
 */
export async function followOwn(
  replay: Replay,
  after: number,
  sink: Pick<EventSink, "write" | "writeKept">,
  signal: AbortSignal,
): Promise<StreamEnd | null> {
  const missed = replay.behind(after);
  if (missed === null) return beginningGone;
  sink.writeKept(missed);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const unfollow = replay.follow({ write: sink.write, close: resolve });
  signal.addEventListener("abort", () => resolve(), { once: true });
  if (signal.aborted) resolve();
  await over;
  unfollow();
  signal.throwIfAborted();
  return null;
}

/** Responds with a refusal as a stream: `error`, then `done` without ids (spec "Errors", rule 2). */
export function refusedStream(streaming: Streaming, { message }: EngineError): Response {
  const { response, sink } = eventStream(streaming);
  sink.write(refusalText({ message }, null));
  sink.close();
  return response;
}

/** Streams a stored reply as one delta, without event ids: the turn's ids belong to its original events. */
export function repeatedStream(streaming: Streaming, ref: string, reply: StoredReply): Response {
  const headers = { ...streaming.headers, "Idempotent-Replayed": "true" };
  const { response, sink } = eventStream({ ...streaming, headers });
  const { turnId, content, metadata } = reply;
  const { approval, hookId } = metadata;
  const shown = { ...(approval ? { approval } : {}), ...(hookId ? { hookId } : {}) };
  const done = {
    conversationId: ref,
    messageId: turnId,
    ...(Object.keys(shown).length === 0 ? {} : { metadata: shown }),
  };
  if (content !== "") sink.write(eventText(null, "text-delta", { text: content }));
  sink.write(eventText(null, "done", done));
  sink.close();
  return response;
}
