import { type Arrival, MessengerError, type Take } from "../../../core/channels/messengers.ts";
import type { Clock } from "../../../core/ports.ts";
import { orAborted } from "../../../core/time/deadline.ts";
import { jsonObject, textOf } from "../fields.ts";

interface Options {
  clock: Clock;
  /** Requests the address of a new connection. Each address works once. */
  open(signal: AbortSignal): Promise<string>;
  /** Returns the arrivals of an event. */
  read(payload: unknown): Promise<Arrival[]>;
  take: Take;
  onConnected?: (() => void) | undefined;
}

/** In milliseconds. Slack sends its hello at once. */
const helloMs = 10_000;

/**
 * A connection that is silent for this long, in milliseconds, is replaced: neither side notices when the network drops
 * it, and Slack's pings are not visible here.
 */
const quietMs = 10 * 60_000;

/** A connection that ends within this time, in milliseconds, has failed; after it, the end is a normal one. */
const soundMs = 10_000;

/** How long a closing connection waits until received events are stored, in milliseconds. */
const storingMs = 5_000;

/**
 * Receives events by Socket Mode (https://docs.slack.dev/apis/events-api/using-socket-mode) until the signal aborts. An
 * event is acknowledged once `take` has stored its messages; Slack sends unacknowledged events again. The next
 * connection opens before the current one ends. Rejects when Slack refuses a connection or breaks it off.
 */
export async function followSocket(options: Options, signal: AbortSignal): Promise<never> {
  let current: Connection | null = null;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = connect(await options.open(signal), options);
      try {
        await orAborted(next.greeted, signal);
      } catch (error) {
        next.close();
        throw error;
      }
      current?.close();
      current = next;
      options.onConnected?.();
      await orAborted(next.spent, signal);
    }
  } finally {
    current?.close();
  }
}

interface Connection {
  /** Resolves at Slack's hello. */
  greeted: Promise<void>;
  /** Resolves when the connection should be replaced; rejects when it failed. */
  spent: Promise<void>;
  close(): void;
}

function connect(address: string, { clock, read, take }: Options): Connection {
  const greeted = Promise.withResolvers<void>();
  const spent = Promise.withResolvers<void>();
  let greetedAt: number | null = null;
  let cancelTimer = clock.after(helloMs, () => fail("Slack did not say hello"));
  let stored = Promise.resolve();
  const socket = new WebSocket(address);

  const fail = (message: string, isPermanent = false) => {
    const error = new MessengerError(message, { isPermanent });
    greeted.reject(error);
    spent.reject(error);
  };
  const stayQuiet = () => {
    cancelTimer();
    cancelTimer = clock.after(quietMs, spent.resolve);
  };
  const store = async (id: string, payload: unknown) => {
    try {
      const arrivals = await read(payload);
      if (arrivals.length > 0) await take(arrivals);
    } catch {
      // Slack sends an unacknowledged event again.
      return;
    }
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ envelope_id: id }));
  };

  socket.onmessage = ({ data }) => {
    const message = jsonObject(textOf(data)) ?? {};
    if (greetedAt !== null) stayQuiet();
    if (message.type === "hello") {
      greetedAt = clock.now();
      stayQuiet();
      greeted.resolve();
    } else if (message.type === "disconnect") {
      const reason = textOf(message.reason);
      const refusal = Object.hasOwn(refusals, reason) ? refusals[reason] : undefined;
      if (refusal) fail(refusal.message, refusal.isPermanent);
      else spent.resolve();
    } else if (textOf(message.envelope_id) !== "") {
      const id = textOf(message.envelope_id);
      // Stores one event after the other, in the order in which people wrote.
      stored = stored.then(() => store(id, message.type === "events_api" ? message.payload : null));
    }
  };
  const ended = () => {
    cancelTimer();
    if (greetedAt !== null && clock.now() - greetedAt >= soundMs) spent.resolve();
    else fail("Slack closed the connection");
  };
  socket.onerror = ended;
  socket.onclose = ended;
  greeted.promise.catch(() => {});
  spent.promise.catch(() => {});
  return {
    greeted: greeted.promise,
    spent: spent.promise,
    close() {
      cancelTimer();
      // Until then, events that are being stored can still be acknowledged.
      const cancelCut = clock.after(storingMs, () => socket.close());
      stored.finally(() => {
        cancelCut();
        socket.close();
      });
    },
  };
}

/** Slack's reasons for ending a connection for good. All other reasons only request a new connection. */
const refusals: Readonly<Record<string, { message: string; isPermanent: boolean }>> = {
  link_disabled: { message: "Socket Mode is turned off for this Slack app: turn it on", isPermanent: true },
  too_many_websockets: {
    message: "This Slack app has too many connections: stop other programs of it",
    isPermanent: false,
  },
};
