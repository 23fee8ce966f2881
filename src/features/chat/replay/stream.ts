import type { EngineError } from "../../../core/errors.ts";
import { eventStream } from "../../../http/sse.ts";
import type { Seat, StoredReply } from "../../turns/index.ts";
import { notKept } from "./export.ts";
import type { Replay } from "./replay.ts";
import { eventText, refusalText } from "./wire.ts";

export type Streaming = Parameters<typeof eventStream>[0];

/** Streams what a turn of this process said behind event `after`, and what it says, until its end or until its reader leaves. */
export function followReplay(replay: Replay, after: number, streaming: Streaming, seat: Seat): Response {
  let left = false;
  let unfollow = () => {};
  const onLeave = () => {
    left = true;
    unfollow();
  };
  const { response, sink } = eventStream({ ...streaming, onLeave });
  const refuse = (message: string) => {
    sink.write(refusalText(message, replay.turn.conversationRef));
    sink.close();
  };
  // Something has to go out for every runtime to send the headers.
  sink.write(": ping\n\n");
  const missed = replay.behind(after);
  if (missed === null) {
    refuse(notKept);
    return response;
  }
  sink.writeKept(missed);
  unfollow = replay.follow(sink);
  // It may have been gone before there was anything to follow.
  if (left) unfollow();
  seat.onRevoked(({ message }) => {
    refuse(message);
    unfollow();
  });
  return response;
}

/** A refusal after everything that has an HTTP status: `error`, and `done` without ids (spec "Errors", rule 2). */
export function refusedStream(streaming: Streaming, { message }: EngineError): Response {
  const { response, sink } = eventStream(streaming);
  sink.write(refusalText(message, null));
  sink.close();
  return response;
}

/** The stored reply of an earlier request, as one delta; without ids, since the turn's own are of other events. */
export function repeatedStream(streaming: Streaming, ref: string, reply: StoredReply): Response {
  const headers = { ...streaming.headers, "Idempotent-Replayed": "true" };
  const { response, sink } = eventStream({ ...streaming, headers });
  const { turnId, content, metadata } = reply;
  const { approval, hookId } = metadata;
  const said = { ...(approval ? { approval } : {}), ...(hookId ? { hookId } : {}) };
  const done = {
    conversationId: ref,
    messageId: turnId,
    ...(Object.keys(said).length === 0 ? {} : { metadata: said }),
  };
  if (content !== "") sink.write(eventText(null, "text-delta", { text: content }));
  sink.write(eventText(null, "done", done));
  sink.close();
  return response;
}
