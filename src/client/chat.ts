import { readEvents } from "./events.ts";
import type { ChatEvent, PlaygroundRequest } from "./generated/types.ts";
import { type CallOptions, type ClientOptions, type Operation, usualHeaders } from "./options.ts";
import { Patience, unlessSilent, watched } from "./patience.ts";
import { type Connection, followTurn, placeOf, ServerUnreached, type StreamPosition } from "./resume.ts";
import { type Input, request, send } from "./send.ts";

export interface ChatOptions extends CallOptions {
  /** Called each time the connection breaks and will be retried. */
  onLost?(error: unknown): void;
  /** How long a lost connection is retried, in milliseconds; 60,000 unless given. */
  patienceMs?: number;
}

/** Talks to one agent. */
export interface Chat {
  /**
   * Sends a message and yields the events of its turn, each once, up to `done`. Resumes the stream when the connection
   * breaks. Rejects with an `AgentEngineError` when the server refuses, with a `StreamCutError` when the reply can't be
   * followed any more, and with the error of `fetch` when the server was not reached. `model` has an effect only in the
   * playground.
   */
  stream(body: PlaygroundRequest, options?: ChatOptions): AsyncGenerator<ChatEvent, void, undefined>;
  /**
   * Yields the events of a turn after `lastEventId`, up to the next `done`: for a turn whose page was left, or that
   * goes on after an approval. Rejects with a `StreamCutError` when the turn can't be followed any more.
   */
  resume(lastEventId: string, options?: ChatOptions): AsyncGenerator<ChatEvent, void, undefined>;
  /**
   * Stops a turn by its `messageIdOf`; its output so far is stored. Resolves to false when the turn had already ended,
   * and for null, which is the id of an event without a turn.
   */
  stop(messageId: string | null, options?: CallOptions): Promise<boolean>;
}

/** `chat` is the agent's own endpoint; `playground` is the one for signed-in people, which needs no agent key. */
export type ChatDoor = "chat" | "playground";

interface DoorOperations {
  begin: Operation;
  resume: Operation;
  stop: Operation;
}

function operationsOf(door: ChatDoor): DoorOperations {
  const path = `/api/instances/{slug}/${door}/stream`;
  const one = `${path}/{messageId}`;
  return {
    begin: { method: "POST", path, answer: "events", headers: { idempotencyKey: "Idempotency-Key" } },
    resume: { method: "GET", path: one, answer: "events", headers: { lastEventId: "Last-Event-ID" } },
    stop: { method: "DELETE", path: one, answer: "json" },
  };
}

/** Chats with the agent of this slug over the native stream. */
export function createChat(client: ClientOptions, slug: string, door: ChatDoor = "chat"): Chat {
  const { begin, resume, stop } = operationsOf(door);
  const listenFrom = ({ messageId, eventId }: StreamPosition, options: CallOptions, patience: Patience) =>
    listen(client, resume, { slug, messageId, lastEventId: eventId }, options, patience);
  return {
    async *stream(body, { onLost, patienceMs = 60_000, ...options } = {}) {
      const patience = new Patience(patienceMs);
      const own = ownKey(client, options);
      const key = body.chat_id ? (own ?? randomKey()) : null;
      const input = { slug, ...(key !== null && own === null ? { idempotencyKey: key } : {}) };
      // Serialized once: the server compares a repeated message with the first one by its bytes.
      const message = new Blob([JSON.stringify(body)], { type: "application/json" });
      const open = (place: StreamPosition | null) =>
        place
          ? listenFrom(place, options, patience)
          : listen(client, begin, { ...input, body: message }, options, patience);
      yield* followTurn(open, { patience, repeatable: key !== null, signal: options.signal, onLost });
    },
    async *resume(lastEventId, { onLost, patienceMs = 60_000, ...options } = {}) {
      const from = placeOf(lastEventId);
      if (!from) throw new TypeError(`lastEventId must be the id of an event, such as <messageId>:3`);
      const patience = new Patience(patienceMs);
      const open = (place: StreamPosition | null) => listenFrom(place ?? from, options, patience);
      yield* followTurn(open, { patience, repeatable: false, signal: options.signal, onLost, from });
    },
    async stop(messageId, options = {}) {
      if (messageId === null) return false;
      const { stopped } = (await send(client, stop, { slug, messageId }, options)) as { stopped: boolean };
      return stopped;
    },
  };
}

/** Opens one connection. A silent connection counts as broken. */
async function listen(
  client: ClientOptions,
  operation: Operation,
  input: Input,
  options: CallOptions,
  patience: Patience,
): Promise<Connection> {
  const { signal } = options;
  const quiet = new AbortController();
  const onSilence = () => quiet.abort(new Error("The server has fallen silent"));
  const either = signal ? AbortSignal.any([signal, quiet.signal]) : quiet.signal;
  const reached: ClientOptions = { ...client, fetch: (...call) => unlessUnreached(client, call, onSilence) };
  const { body, headers } = await request(reached, operation, input, { ...options, signal: either });
  const onHeard = () => patience.heard();
  return {
    events: readEvents(watched(body ?? new Blob().stream(), { onHeard, onSilence }), signal),
    replayed: headers.get("Idempotent-Replayed") === "true",
  };
}

/** Calls `fetch`. Rejects with `ServerUnreached` when there is no response, to tell this from other errors. */
async function unlessUnreached(
  client: ClientOptions,
  call: Parameters<typeof fetch>,
  onSilence: () => void,
): Promise<Response> {
  const send = client.fetch ?? globalThis.fetch;
  try {
    return await unlessSilent(send(...call), onSilence);
  } catch (error) {
    throw new ServerUnreached("The server was not reached", { cause: error });
  }
}

function ownKey(client: ClientOptions, options: CallOptions): string | null {
  const name = "Idempotency-Key";
  return new Headers(options.headers).get(name) ?? new Headers(usualHeaders(client)).get(name);
}

/** A random key of 32 characters. Pages without TLS lack `crypto.randomUUID`. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
