import type { EngineError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/ports.ts";
import type { StartedTurn, TurnEnding, TurnListener, TurnObserver } from "../../../turn/observers.ts";
import { endingError, wasStopped } from "../../turns/index.ts";
import { eventText, wireDone, wireEvent } from "./wire.ts";

/** How long a turn can be resumed after its end (decisions §5, "Resume"). */
export const resumableMs = 60_000;

/** The limit of one turn's events, in UTF-16 units; a longer turn loses its first events. */
const turnLimit = 4 * 1024 * 1024;

/** The limit of all ended turns' events, in UTF-16 units; the turns that ended first are dropped first. */
const endedLimit = 64 * 1024 * 1024;

/** Receives the events of a turn. */
export interface Follower {
  write(text: string): void;
  close(): void;
}

/** The endpoints whose turns a client may resume. */
const resumable: ReadonlySet<string> = new Set(["native", "playground"]);

/** The part of a turn that a replay keeps. The whole turn would keep its prompt in memory. */
type ReplayedTurn = Pick<StartedTurn, "id" | "agent" | "door" | "stored" | "conversationRef">;

/** The events of a turn that were sent, for clients that resume. */
export class Replay {
  readonly turn: ReplayedTurn;
  /** The time at which the turn ended, in milliseconds since the epoch; null while the turn runs. */
  endedAt: number | null = null;
  /** Whether the turn waits for approval. */
  awaitsDecision = false;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #resolveOver: () => void;
  /** The length of all events here, in UTF-16 units. */
  length = 0;
  readonly #events: string[] = [];
  readonly #followers = new Set<Follower>();
  #leave: () => void;
  #dropped = 0;

  constructor(turn: StartedTurn) {
    const { id, agent, door, stored, conversationRef } = turn;
    this.turn = { id, agent, door, stored, conversationRef };
    this.#leave = () => turn.leave();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#resolveOver = resolve;
  }

  get turnId(): string {
    return this.turn.id;
  }

  /** The number of first events that were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The number of the last event; the first one is 1. */
  get last(): number {
    return this.#dropped + this.#events.length;
  }

  add(type: string, data: object): void {
    const text = eventText(`${this.turn.id}:${this.last + 1}`, type, data);
    this.#events.push(text);
    this.length += text.length;
    if (this.length > turnLimit) this.#forgetHalf();
    for (const follower of this.#followers) follower.write(text);
  }

  /** The events after event `number`; null when some of them were dropped. */
  behind(number: number): string[] | null {
    return number < this.#dropped ? null : this.#events.slice(number - this.#dropped);
  }

  /** Writes all further events to `follower`, until the returned function is called. */
  follow(follower: Follower): () => void {
    if (this.endedAt !== null) {
      follower.close();
      return () => {};
    }
    this.#followers.add(follower);
    return () => {
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.#leave();
    };
  }

  end(now: number): void {
    this.endedAt = now;
    this.#leave = () => {};
    this.#resolveOver();
    for (const follower of this.#followers) follower.close();
    this.#followers.clear();
  }

  /** Drops half the length at once, since each `splice` moves all remaining events. */
  #forgetHalf(): void {
    const half = this.length / 2;
    let count = 0;
    while (this.length > half) {
      this.length -= this.#events[count]?.length ?? 0;
      count += 1;
    }
    this.#events.splice(0, count);
    this.#dropped += count;
  }
}

/** The replays of this process's turns. */
export class Replays implements TurnObserver {
  readonly #clock: Clock;
  readonly #replays = new Map<string, Replay>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the events of a turn at a resumable endpoint, from the first one on. */
  started(turn: StartedTurn): TurnListener | null {
    if (!resumable.has(turn.door)) return null;
    const replay = new Replay(turn);
    this.#replays.set(turn.id, replay);
    return {
      event: (event) => {
        const wire = wireEvent(event);
        if (wire) replay.add(event.type, wire);
      },
      ended: (ending) => {
        const error = errorOf(ending);
        if (error) replay.add("error", { message: error.message + causeOf(turn, ending) });
        replay.awaitsDecision = "outcome" in ending && ending.outcome.status === "approval";
        replay.add("done", wireDone(turn.id, turn.conversationRef, ending));
        replay.end(this.#clock.now());
      },
    };
  }

  get(turnId: string): Replay | undefined {
    const replay = this.#replays.get(turnId);
    return replay && this.#isOver(replay) ? undefined : replay;
  }

  /** Drops a turn. Its current followers still get all events. */
  drop(turnId: string): void {
    this.#replays.delete(turnId);
  }

  /** The ids of the turns. */
  ids(): string[] {
    return [...this.#replays.keys()];
  }

  /** Drops replays that can't be resumed any more, and, above `endedLimit`, the oldest ones. Call it every 2 seconds. */
  sweep(): void {
    const ended = [...this.#replays.values()].filter(({ endedAt }) => endedAt !== null);
    let length = ended.reduce((sum, replay) => sum + replay.length, 0);
    for (const replay of ended.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0))) {
      if (!this.#isOver(replay) && length <= endedLimit) return;
      this.#replays.delete(replay.turnId);
      length -= replay.length;
    }
  }

  #isOver({ endedAt }: Replay): boolean {
    return endedAt !== null && this.#clock.now() - endedAt > resumableMs;
  }
}

/** The error with which a turn ended; null for none. A stop on request is no error. */
function errorOf(ending: TurnEnding): EngineError | null {
  if ("unrecorded" in ending) return ending.unrecorded;
  return wasStopped(ending.outcome) ? null : endingError(ending.outcome);
}

/**
 * The cause of a failed model call, for the playground, whose users maintain the agent. Public callers can't fix it, so
 * they get no cause.
 */
function causeOf({ door, model: { provider, model } }: StartedTurn, ending: TurnEnding): string {
  if (door !== "playground" || "unrecorded" in ending || ending.outcome.status !== "failed") return "";
  const { hint } = ending.outcome.failure;
  return hint === undefined ? "" : ` (${provider}:${model}): ${hint}`;
}
