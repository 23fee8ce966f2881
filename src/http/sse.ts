import type { Clock } from "../core/ports.ts";

/** How often a comment keeps a quiet stream alive (spec "Limits", "Stream keep-alive"). */
const keepAliveMs = 25_000;

/** A client for which more text than this waits is let go of: a slow reader must not grow the memory of the server. */
const unreadLimit = 1024 * 1024;

/** So is one that takes nothing for this long, though there is something for it; looked at with the keep-alive. */
const stuckMs = 60_000;

/** Of what waits, this much is handed over at a time: the runtime keeps a copy until the client took it. */
const chunkLength = 16 * 1024;

export interface EventSink {
  /** Complete events or comments, as text. Ignored once the stream is closed or the client gone. */
  write(text: string): void;
  /** The same for events that are kept elsewhere too, however many: none is copied before the client takes it. */
  writeKept(events: readonly string[]): void;
  /** Resolves when the client took all there was, or is gone: for who would rather wait than be let go of. */
  drained(): Promise<void>;
  /** The stream ends when the client has read what there is. */
  close(): void;
}

interface Options {
  clock: Clock;
  headers?: Record<string, string>;
  /** Aborted when the client is gone; the runtime's request has it. */
  signal: AbortSignal;
  /** Called at most once, and never after `close`. */
  onLeave?(): void;
  /** Called once, when the stream holds nothing any more: read to its end, or left. */
  onEnd?(): void;
}

export const eventStreamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

const utf8 = new TextEncoder();

/** A stream of server-sent events with a keep-alive, written from outside: nothing ever waits for its reader. */
export function eventStream({ clock, headers, signal, onLeave, onEnd }: Options): {
  response: Response;
  sink: EventSink;
} {
  const backlog = new Backlog();
  let limit = unreadLimit;
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let closed = false;
  /** The client took all there was and waits for more. */
  let hungry = false;
  let onDrained = () => {};
  let handedAt = clock.now();
  let cancelBeat = () => {};

  const end = () => {
    controller = null;
    backlog.clear();
    cancelBeat();
    onDrained();
    signal.removeEventListener("abort", leave);
    onEnd?.();
  };
  const leave = () => {
    if (!controller) return;
    end();
    if (!closed) onLeave?.();
  };
  const letGo = () => {
    controller?.error(new Error("The client reads too slowly"));
    leave();
  };
  const hand = (text: string) => {
    hungry = false;
    handedAt = clock.now();
    controller?.enqueue(utf8.encode(text));
  };
  const pull = () => {
    if (backlog.length > 0) {
      hand(backlog.take());
      limit = Math.min(limit, backlog.length + unreadLimit);
      return;
    }
    hungry = true;
    onDrained();
    if (!closed) return;
    controller?.close();
    end();
  };
  const write = (text: string) => {
    if (!controller || closed) return;
    if (hungry) hand(text);
    // Looked at before it is added to: a single event may be longer.
    else if (backlog.length < limit) backlog.add(text);
    else letGo();
  };
  const writeKept = (events: readonly string[]) => {
    if (!controller || closed || events.length === 0) return;
    backlog.addAll(events);
    limit = backlog.length + unreadLimit;
    if (hungry) pull();
  };
  const drained = async () => {
    if (!controller || hungry) return;
    await new Promise<void>((resolve) => {
      onDrained = resolve;
    });
  };
  const close = () => {
    if (!controller || closed) return;
    closed = true;
    if (hungry) pull();
  };
  const beat = () => {
    cancelBeat = clock.after(keepAliveMs, () => {
      if (!hungry && clock.now() - handedAt >= stuckMs) return letGo();
      write(": ping\n\n");
      if (controller) beat();
    });
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(made) {
        controller = made;
      },
      pull,
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  beat();
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });

  const response = new Response(body, {
    headers: { ...eventStreamHeaders, ...headers },
  });
  return { response, sink: { write, writeKept, drained, close } };
}

/** Text that waits to be read, in the order in which it came. */
class Backlog {
  #pieces: string[] = [];
  length = 0;

  add(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }

  addAll(texts: readonly string[]): void {
    this.#pieces = this.#pieces.concat(texts);
    for (const { length } of texts) this.length += length;
  }

  /** The next whole pieces, joined: a chunk's length, or what there is. */
  take(): string {
    let count = 0;
    let length = 0;
    while (count < this.#pieces.length && length < chunkLength) {
      length += this.#pieces[count]?.length ?? 0;
      count += 1;
    }
    this.length -= length;
    return this.#pieces.splice(0, count).join("");
  }

  clear(): void {
    this.#pieces = [];
    this.length = 0;
  }
}
