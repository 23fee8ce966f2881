import type { EngineError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";
import type { AbortReason, Origin, TurnEvent, TurnOutcome } from "./types.ts";

/** A turn that has its place, as observers know it. */
export interface StartedTurn {
  /** Also the id of the assistant's message. */
  readonly id: string;
  readonly agent: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly organizationId: string;
    readonly workspaceId: string;
  };
  readonly door: string;
  readonly origin: Origin;
  /** The public id of the conversation, stored or not. */
  readonly conversationRef: string;
  /** Whether the turn belongs to a stored conversation. */
  readonly stored: boolean;
  /** The turn that stopped for a decision and that this one continues; null for none. */
  readonly continues: string | null;
  readonly requestId: string;
  /** The new messages of the user. */
  readonly fresh: readonly string[];
  readonly model: { readonly provider: string; readonly model: string };
  /** Nobody follows the turn any more: its rule decides whether the turn goes on. */
  leave(): void;
  abort(reason: AbortReason): void;
}

/** How a turn ended. */
export type TurnEnding =
  /** `replyKept`: the reply can be known by the turn's id. */
  { outcome: TurnOutcome; replyKept: boolean } | { unrecorded: EngineError };

/** What is told of one turn. Nothing that a listener does reaches the turn: neither what it throws nor its promises. */
export interface TurnListener {
  event?(event: TurnEvent): void;
  ended?(ending: TurnEnding): void;
}

/** Is told of every turn of this process, synchronously, before its first event; null for a turn that does not matter. */
export interface TurnObserver {
  started(turn: StartedTurn): TurnListener | null;
}

/** Tells all listeners of one turn; a listener that throws is told nothing more. */
export class Audience {
  readonly #log: Log;
  #listeners: readonly TurnListener[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  start(observers: readonly TurnObserver[], turn: StartedTurn, own: TurnListener | undefined): void {
    const listeners: TurnListener[] = own ? [own] : [];
    for (const observer of observers) {
      this.#guard(() => {
        const listener = observer.started(turn);
        if (listener) listeners.push(listener);
      });
    }
    this.#listeners = listeners;
  }

  event(event: TurnEvent): void {
    for (const listener of this.#listeners) {
      if (listener.event && !this.#guard(() => listener.event?.(event))) this.#dismiss(listener);
    }
  }

  ended(ending: TurnEnding): void {
    for (const listener of this.#listeners) this.#guard(() => listener.ended?.(ending));
    this.#listeners = [];
  }

  #dismiss(listener: TurnListener): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** Answers false when `tell` threw. An `async` listener compiles as well: its rejection is caught here. */
  #guard(tell: () => unknown): boolean {
    const complain = (err: unknown) => this.#log.error({ err }, "An observer of turns failed");
    try {
      const told = tell();
      if (told instanceof Promise) told.catch(complain);
      return true;
    } catch (err) {
      complain(err);
      return false;
    }
  }
}
