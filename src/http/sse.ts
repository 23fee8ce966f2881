import type { Clock } from "../core/ports.ts";

/** How often a comment keeps a quiet stream alive (spec "Limits", "Stream keep-alive"). */
const keepAliveMs = 25_000;

/** What a client may leave unread before it is let go of: a slow reader must not grow the memory of the server. */
const unreadLimit = 8 * 1024 * 1024;

export interface EventSink {
  /** Complete events or comments, as text. Ignored once the stream is closed or the client gone. */
  write(text: string): void;
  close(): void;
}

interface Options {
  clock: Clock;
  headers?: Record<string, string>;
  /** Aborted when the client is gone; the runtime's request has it. */
  signal: AbortSignal;
  /** Called at most once, and never after `close`. */
  onLeave?(): void;
}

const utf8 = new TextEncoder();

/** A stream of server-sent events with a keep-alive, written from outside: nothing ever waits for its reader. */
export function eventStream({ clock, headers, signal, onLeave }: Options): { response: Response; sink: EventSink } {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let cancelPing = () => {};

  const end = () => {
    controller = null;
    cancelPing();
    signal.removeEventListener("abort", leave);
  };
  const leave = () => {
    if (!controller) return;
    end();
    onLeave?.();
  };
  const write = (text: string) => {
    if (!controller) return;
    controller.enqueue(utf8.encode(text));
    if ((controller.desiredSize ?? 0) < -unreadLimit) {
      controller.error(new Error("The client reads too slowly"));
      leave();
    }
  };
  const ping = () => {
    cancelPing = clock.after(keepAliveMs, () => {
      write(": ping\n\n");
      if (controller) ping();
    });
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(made) {
        controller = made;
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  ping();
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });

  const response = new Response(body, {
    headers: {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-cache, no-transform",
      "X-Accel-Buffering": "no",
      ...headers,
    },
  });
  const close = () => {
    controller?.close();
    end();
  };
  return { response, sink: { write, close } };
}
