import { AgentEngineError, StreamCutError } from "./errors.ts";
import type { ChatEvent } from "./generated/types.ts";
import type { Patience } from "./patience.ts";

/** A position in the events of a turn. */
export interface StreamPosition {
  messageId: string;
  /** The event's id, with which the stream is resumed. */
  eventId: string;
  number: number;
}

interface Options {
  patience: Patience;
  /** Whether the server answers a repeated message only once. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
  onLost?: ((error: unknown) => void) | undefined;
  /** The event after which to begin; then the message is not sent. */
  from?: StreamPosition;
}

export interface Connection {
  events: AsyncIterable<ChatEvent>;
  /** Whether the events are the stored reply to an earlier request. It is always the same, and its events have no ids. */
  replayed: boolean;
}

/** Opens a connection: after a position in a turn or, with null, by sending the message. */
type Open = (place: StreamPosition | null) => Promise<Connection>;

/** Thrown when a request got no response. The cause is the error of `fetch`. */
export class ServerUnreached extends Error {}

/** Thrown when the server gave up the turn, so that the message can be sent again. */
class TurnDropped extends Error {}

/** How often the message is sent at most, since each time may run the model. */
const mostSends = 4;

/**
 * The error of a turn that the server stopped, and did not store, because no client was connected before its first
 * output.
 */
const givenUp = "The client left before the turn began";

/** The message id of an event's turn, with which the turn can be stopped; null for a refusal, which has no turn. */
export function messageIdOf({ id }: Pick<ChatEvent, "id">): string | null {
  return placeOf(id)?.messageId ?? null;
}

interface State {
  /** The position after which to resume; null when the message must be sent. */
  place: StreamPosition | null;
  /** The position of the last event that was yielded. */
  yielded: StreamPosition | null;
  /** How many events of a stored reply were yielded. */
  yieldedOfStored: number;
  /** How often the message was sent and a stream opened. */
  sends: number;
  /** How often a request was sent. */
  calls: number;
}

/** Yields the events of a turn, each once, over as many connections as needed. */
export async function* followTurn(open: Open, options: Options): AsyncGenerator<ChatEvent, void, undefined> {
  const place = options.from ?? null;
  const state: State = { place, yielded: place, yieldedOfStored: 0, sends: 0, calls: 0 };
  for (;;) {
    let problem: unknown = new TurnDropped();
    try {
      const { events, replayed } = await connect(open, state);
      let number = 0;
      for await (const event of events) {
        number += 1;
        if (replayed ? number <= state.yieldedOfStored : wasYielded(event, state)) continue;
        if (isGivenUp(event, state)) {
          state.place = null;
          break;
        }
        if (event.event === "error" && event.data.code === "unavailable") {
          throw new StreamCutError(state.place?.eventId ?? null, new Error(event.data.message));
        }
        if (replayed) state.yieldedOfStored = number;
        else state.place = state.yielded = placeOf(event.id) ?? state.yielded;
        options.patience.progressed();
        yield event;
        if (event.event === "done") return;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      problem = error;
    }
    await pauseOrThrow(problem, state, options);
  }
}

async function connect(open: Open, state: State): Promise<Connection> {
  state.calls += 1;
  const connection = await open(state.place);
  if (!state.place) state.sends += 1;
  return connection;
}

/** Resolves when it is time for another attempt. Rejects when another attempt is useless. */
async function pauseOrThrow(problem: unknown, state: State, { patience, signal, onLost, repeatable }: Options) {
  const { place } = state;
  if (repeatable && !place && isRunning(problem)) patience.restart();
  else if (isPassing(problem, state, repeatable)) onLost?.(problem);
  else if (!(problem instanceof TurnDropped)) throw lastError(problem, place);
  if (!(await patience.pause(problem, signal))) throw lastError(problem, place);
}

/** Whether the server still answers an earlier request with this message, whose reply will be stored. */
const isRunning = (problem: unknown) => problem instanceof AgentEngineError && problem.status === 409;

function isPassing(problem: unknown, { place, sends, calls }: State, repeatable: boolean): boolean {
  if (!place && (!repeatable || sends >= mostSends)) return false;
  if (problem instanceof StreamCutError) return true;
  const first = calls === 1;
  if (problem instanceof ServerUnreached) return !first || mayHaveArrived(problem.cause);
  if (!(problem instanceof AgentEngineError)) return false;
  const { status, body } = problem;
  const passing = status === 429 || (status >= 502 && status <= 504);
  // The server's own refusal of the first request is final; a proxy may have lost the response to it.
  return passing && !(first && (body !== null || status === 429));
}

/** The error to throw at the end: the problem itself, or a `StreamCutError` that names the last event. */
function lastError(problem: unknown, place: StreamPosition | null): unknown {
  const cause = problem instanceof ServerUnreached || problem instanceof StreamCutError ? problem.cause : problem;
  if (!place) return problem instanceof ServerUnreached ? cause : problem;
  if (!(problem instanceof AgentEngineError)) return new StreamCutError(place.eventId, cause);
  if (problem.status !== 404) return problem;
  const why = `The connection broke, and the turn can't be followed any more (${problem.message})`;
  const message = `${why}: what it said may be read in the conversation's messages`;
  return new StreamCutError(place.eventId, problem, message);
}

/** The position of an event by its id; null for an event without one. */
export function placeOf(id: string): StreamPosition | null {
  const [, messageId, number] = /^(.+):(\d+)$/.exec(id) ?? [];
  return messageId && number ? { messageId, eventId: id, number: Number(number) } : null;
}

function wasYielded({ id }: ChatEvent, { yielded }: State): boolean {
  const at = placeOf(id);
  return at !== null && at.messageId === yielded?.messageId && at.number <= yielded.number;
}

function isGivenUp({ event, data }: ChatEvent, { place, sends, calls }: State): boolean {
  return event === "error" && data.message === givenUp && place !== null && calls > 1 && sends < mostSends;
}

/** Whether the server may have received a request that got no response. Browsers do not tell why, so there it may have. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const { cause } = error;
  const code = [error, cause].map((one) => (one instanceof Error && "code" in one ? String(one.code) : "")).join(" ");
  return code === " " ? cause === undefined : /SOCKET|RESET|EPIPE|ABORTED|CLOSED/i.test(code);
}
