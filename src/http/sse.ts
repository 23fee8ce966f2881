import type { Clock } from "../core/ports.ts";
import { type Outlet, offerText } from "../core/text/outlet.ts";

/** In milliseconds. A stream that was silent for this long gets a comment (spec "Limits", "Stream keep-alive"). */
const keepAliveMs = 25_000;

/**
 * A client with more unread text, in UTF-16 units, is disconnected: a slow reader must not fill the server's memory.
 */
const unreadLimit = 1024 * 1024;

/**
 * When all clients together have more unread text than this, in UTF-16 units, clients are disconnected at
 * `pressedLimit` already. They can resume, and their turns go on.
 */
const allUnreadLimit = 64 * 1024 * 1024;
const pressedLimit = 64 * 1024;

/** The unread text of all clients of this process. */
let allUnread = 0;

/** In milliseconds. A client that read none of its waiting text for this long is disconnected at a keep-alive. */
const stuckMs = 60_000;

/** The length of the pieces that the runtime gets, which copies waiting text until the client reads it. */
const chunkLength = 16 * 1024;

export interface EventSink {
  /** Writes complete events or comments. Does nothing after `close`, or after the client disconnected. */
  write(text: string): void;
  /** `write`, for events that are also stored elsewhere: none of them is copied before the client reads it. */
  writeKept(events: readonly string[]): void;
  /** Resolves when the client has read everything or disconnected. A client whose writer awaits this is never too slow. */
  drained(): Promise<void>;
  /** Ends the stream when the client has read everything. */
  close(): void;
}

interface Options {
  clock: Clock;
  headers?: Record<string, string>;
  /** The signal of the runtime's request, which aborts when the client disconnects. */
  signal: AbortSignal;
  /** If set, a slow client loses its oldest unread events above this number, and is told how many. */
  mostPending?: number;
  /** Called at most once, when the client disconnects, or is disconnected, before `close`. */
  onLeave?(): void;
  /** Called once, when the stream was read to its end or the client disconnected. */
  onEnd?(): void;
}

export const eventStreamHeaders = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

const utf8 = new TextEncoder();

/** A stream of server-sent events with keep-alives. Its writer never waits for the reader. */
export function eventStream({ clock, headers, signal, mostPending, onLeave, onEnd }: Options): {
  response: Response;
  sink: EventSink;
} {
  const backlog = new Backlog();
  let limit = unreadLimit;
  /** Null after the end. */
  let outlet: Outlet | null = null;
  let closed = false;
  /** How many events were lost about which the client does not know yet. */
  let lost = 0;
  /** Whether the client has read everything and waits for more. */
  let hungry = false;
  let onDrained = () => {};
  let handedAt = clock.now();
  let cancelBeat = () => {};

  const end = () => {
    outlet = null;
    backlog.clear();
    cancelBeat();
    onDrained();
    signal.removeEventListener("abort", leave);
    onEnd?.();
  };
  const leave = () => {
    if (!outlet) return;
    end();
    if (!closed) onLeave?.();
  };
  const dropClient = () => {
    outlet?.error(new Error("The client reads too slowly"));
    leave();
  };
  const hand = (text: string) => {
    hungry = false;
    handedAt = clock.now();
    outlet?.enqueue(text);
  };
  const pull = () => {
    if (backlog.length > 0) {
      const note = lost > 0 ? `: ${lost} older events were left out: they were not read in time\n\n` : "";
      lost = 0;
      hand(note + backlog.take());
      limit = Math.min(limit, backlog.length + unreadLimit);
      return;
    }
    hungry = true;
    onDrained();
    if (!(closed && outlet)) return;
    outlet.close();
    end();
  };
  const write = (text: string) => {
    if (!outlet || closed) return;
    if (hungry) return hand(text);
    // The new text does not count, since a single event may exceed the limit.
    const most = allUnread < allUnreadLimit ? limit : pressedLimit;
    if (mostPending !== undefined) lost += backlog.makeRoom(mostPending, most);
    if (backlog.length < most) backlog.add(text);
    else dropClient();
  };
  const writeKept = (events: readonly string[]) => {
    if (!outlet || closed || events.length === 0) return;
    backlog.addAll(events);
    limit = backlog.length + unreadLimit;
    if (hungry) pull();
  };
  const drained = async () => {
    if (!outlet || hungry) return;
    await new Promise<void>((resolve) => {
      onDrained = resolve;
    });
  };
  const close = () => {
    if (!outlet || closed) return;
    closed = true;
    if (hungry) pull();
  };
  const beat = () => {
    cancelBeat = clock.after(keepAliveMs, () => {
      if (!hungry && clock.now() - handedAt >= stuckMs) return dropClient();
      write(": ping\n\n");
      if (outlet) beat();
    });
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        outlet = {
          enqueue: (text) => controller.enqueue(utf8.encode(text)),
          close: () => controller.close(),
          error: (reason) => controller.error(reason),
        };
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
  offerText(response, (direct) => {
    if (outlet) outlet = direct;
    else direct.error(new Error("The client is gone"));
    return { pull, cancel: leave };
  });
  return { response, sink: { write, writeKept, drained, close } };
}

/** The unread text, in the order in which it was written. */
class Backlog {
  #pieces: string[] = [];
  length = 0;

  add(text: string): void {
    this.#pieces.push(text);
    this.#grow(text.length);
  }

  addAll(texts: readonly string[]): void {
    this.#pieces = this.#pieces.concat(texts);
    for (const { length } of texts) this.#grow(length);
  }

  /** Removes the next whole pieces and returns them joined: at least `chunkLength`, or everything. */
  take(): string {
    let count = 0;
    let length = 0;
    while (count < this.#pieces.length && length < chunkLength) {
      length += this.#pieces[count]?.length ?? 0;
      count += 1;
    }
    this.#grow(-length);
    return this.#pieces.splice(0, count).join("");
  }

  /** Removes the oldest pieces until another one fits. Returns how many events were among them; comments don't count. */
  makeRoom(most: number, mostLength: number): number {
    let left = this.length;
    let count = 0;
    for (; this.#pieces.length - count >= most || left >= mostLength; count += 1)
      left -= this.#pieces[count]?.length ?? 0;
    this.#grow(left - this.length);
    return this.#pieces.splice(0, count).filter((piece) => !piece.startsWith(":")).length;
  }

  clear(): void {
    this.#pieces = [];
    this.#grow(-this.length);
  }

  #grow(length: number): void {
    this.length += length;
    allUnread += length;
  }
}
