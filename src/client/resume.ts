import { AgentEngineError, StreamCutError } from "./errors.ts";
import type { ChatEvent } from "./generated/types.ts";
import type { Patience } from "./patience.ts";

/** How far a turn was followed. */
export interface Place {
  messageId: string;
  /** Of the last event, by which the stream is resumed. */
  eventId: string;
  number: number;
}

interface Options {
  patience: Patience;
  /** Whether the message may be sent again without being answered twice. */
  repeatable: boolean;
  signal?: AbortSignal | undefined;
  onLost?: ((error: unknown) => void) | undefined;
}

export interface Connection {
  events: AsyncIterable<ChatEvent>;
  /** It is the stored reply of an earlier sending, always the same: its events have no ids, so that nothing resumes it. */
  replayed: boolean;
}

/** Opens a connection: to a turn from a place on, or with the message. */
type Open = (place: Place | null) => Promise<Connection>;

/** A call that got no answer, with what `fetch` threw as its cause. */
export class Unreached extends Error {}

/** The turn was given up: the message can be sent again. */
class GivenUp extends Error {}

/** How often the message is sent, at most: each time may run the model. */
const mostSends = 4;

/** What a turn says that was given up since nobody listened and nothing had come out; it stored nothing. */
const givenUp = "The client left before the turn began";

/** The turn that an event is of, by which it can be stopped; null for a refusal, which is of none. */
export function messageIdOf({ id }: Pick<ChatEvent, "id">): string | null {
  return placeOf(id)?.messageId ?? null;
}

interface State {
  /** Where to resume; null: the message has to be sent. */
  place: Place | null;
  /** The last event that was told. */
  told: Place | null;
  /** How many events of a stored reply were told. */
  repeated: number;
  /** How often the message was answered by a stream. */
  sends: number;
  /** How often the server was called. */
  calls: number;
}

/** The events of a turn, each once, over as many connections as it takes. */
export async function* goOn(open: Open, options: Options): AsyncGenerator<ChatEvent, void, undefined> {
  const state: State = { place: null, told: null, repeated: 0, sends: 0, calls: 0 };
  for (;;) {
    let problem: unknown = new GivenUp();
    try {
      const { events, replayed } = await connect(open, state);
      let number = 0;
      for await (const event of events) {
        number += 1;
        if (replayed ? number <= state.repeated : isTold(event, state)) continue;
        if (isGivenUp(event, state)) {
          state.place = null;
          break;
        }
        if (replayed) state.repeated = number;
        else state.place = state.told = placeOf(event.id) ?? state.told;
        options.patience.progressed();
        yield event;
        if (event.event === "done") return;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      problem = error;
    }
    await settle(problem, state, options);
  }
}

async function connect(open: Open, state: State): Promise<Connection> {
  state.calls += 1;
  const connection = await open(state.place);
  if (!state.place) state.sends += 1;
  return connection;
}

/** Returns when it is time to try again. Throws when there is no use in it. */
async function settle(problem: unknown, state: State, { patience, signal, onLost, repeatable }: Options) {
  const { place } = state;
  if (repeatable && !place && isRunning(problem)) patience.restart();
  else if (isPassing(problem, state, repeatable)) onLost?.(problem);
  else if (!(problem instanceof GivenUp)) throw lastError(problem, place);
  if (!(await patience.pause(problem, signal))) throw lastError(problem, place);
}

/** An earlier sending of the message is being answered: its reply can be had once it is stored. */
const isRunning = (problem: unknown) => problem instanceof AgentEngineError && problem.status === 409;

function isPassing(problem: unknown, { place, sends, calls }: State, repeatable: boolean): boolean {
  if (!place && (!repeatable || sends >= mostSends)) return false;
  if (problem instanceof StreamCutError) return true;
  const first = calls === 1;
  if (problem instanceof Unreached) return !first || mayHaveArrived(problem.cause);
  if (!(problem instanceof AgentEngineError)) return false;
  const { status, body } = problem;
  const passing = status === 429 || (status >= 502 && status <= 504);
  // What the server itself says to the first sending is its answer; a proxy may have lost one.
  return passing && !(first && (body !== null || status === 429));
}

/** Why it ends: what was thrown, or how far the turn was followed. */
function lastError(problem: unknown, place: Place | null): unknown {
  const cause = problem instanceof Unreached || problem instanceof StreamCutError ? problem.cause : problem;
  if (!place) return problem instanceof Unreached ? cause : problem;
  if (!(problem instanceof AgentEngineError)) return new StreamCutError(place.eventId, cause);
  if (problem.status !== 404) return problem;
  const why = `The connection broke, and the turn can't be followed any more (${problem.message})`;
  const message = `${why}: what it said may be read in the conversation's messages`;
  return new StreamCutError(place.eventId, problem, message);
}

function placeOf(id: string): Place | null {
  const [, messageId, number] = /^(.+):(\d+)$/.exec(id) ?? [];
  return messageId && number ? { messageId, eventId: id, number: Number(number) } : null;
}

function isTold({ id }: ChatEvent, { told }: State): boolean {
  const at = placeOf(id);
  return at !== null && at.messageId === told?.messageId && at.number <= told.number;
}

function isGivenUp({ event, data }: ChatEvent, { place, sends, calls }: State): boolean {
  return event === "error" && data.message === givenUp && place !== null && calls > 1 && sends < mostSends;
}

/** Whether a call without an answer may have been received. Browsers do not say: they give no cause. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  const { cause } = error;
  const code = [error, cause].map((one) => (one instanceof Error && "code" in one ? String(one.code) : "")).join(" ");
  return code === " " ? cause === undefined : /SOCKET|RESET|EPIPE|ABORTED|CLOSED/i.test(code);
}
