import type { EngineError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/ports.ts";
import type { StartedTurn, TurnEnding, TurnListener, TurnObserver } from "../../../turn/observers.ts";
import { endingError, wasStopped } from "../../turns/index.ts";
import { eventText, wireDone, wireEvent } from "./wire.ts";

/** How long the events of a turn are kept after its end (decisions §5, "Resume"). */
export const keptMs = 60_000;

/** What the events of one turn may take, in UTF-16 units; of a longer one the beginning goes. */
const turnLimit = 4 * 1024 * 1024;

/** What those of all ended turns may take; the oldest go first. */
const endedLimit = 64 * 1024 * 1024;

/** Somebody who is told the events of a turn. */
export interface Follower {
  write(text: string): void;
  close(): void;
}

/** The doors whose events a client may come back for. */
const resumable: ReadonlySet<string> = new Set(["native", "playground"]);

/** The events of a turn as they were sent, for clients that come back. */
export class Replay {
  readonly turn: StartedTurn;
  /** Since when the turn is over; null while it runs. */
  endedAt: number | null = null;
  /** Resolves when the turn is over. */
  readonly over: Promise<void>;
  readonly #resolveOver: () => void;
  length = 0;
  readonly #events: string[] = [];
  readonly #followers = new Set<Follower>();
  /** How many of the first events are gone. */
  #dropped = 0;

  constructor(turn: StartedTurn) {
    this.turn = turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#resolveOver = resolve;
  }

  get turnId(): string {
    return this.turn.id;
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

  /** The events behind the one with this number; null when they are not all there any more. */
  behind(number: number): string[] | null {
    return number < this.#dropped ? null : this.#events.slice(number - this.#dropped);
  }

  /** Tells somebody what happens from here on; the returned function stops that. */
  follow(follower: Follower): () => void {
    if (this.endedAt !== null) {
      follower.close();
      return () => {};
    }
    this.#followers.add(follower);
    return () => {
      if (this.#followers.delete(follower) && this.#followers.size === 0) this.turn.leave();
    };
  }

  end(now: number): void {
    this.endedAt = now;
    this.#resolveOver();
    for (const follower of this.#followers) follower.close();
    this.#followers.clear();
  }

  /** At once, since each time all that is left moves up. */
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

/** The turns of this process whose events are kept. */
export class Replays implements TurnObserver {
  readonly #clock: Clock;
  readonly #replays = new Map<string, Replay>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps the events of a turn that a client may come back for, from the first event on. */
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
        if (error) replay.add("error", { message: error.message });
        replay.add("done", wireDone(turn.id, turn.conversationRef, ending));
        replay.end(this.#clock.now());
      },
    };
  }

  get(turnId: string): Replay | undefined {
    const replay = this.#replays.get(turnId);
    return replay && this.#isOver(replay) ? undefined : replay;
  }

  /** Forgets a turn; who follows it already goes on. */
  drop(turnId: string): void {
    this.#replays.delete(turnId);
  }

  /** Of these turns, or of all. */
  ids(): string[] {
    return [...this.#replays.keys()];
  }

  /** Lets go of what is over. Call it every few seconds. */
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
    return endedAt !== null && this.#clock.now() - endedAt > keptMs;
  }
}

/** What went wrong. A stop is what somebody asked for, and no failure. */
function errorOf(ending: TurnEnding): EngineError | null {
  if ("unrecorded" in ending) return ending.unrecorded;
  return wasStopped(ending.outcome) ? null : endingError(ending.outcome);
}
