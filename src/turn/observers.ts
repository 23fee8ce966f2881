import type { ActingAgent } from "../core/activity/activity.ts";
import type { EngineError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";
import type { Scrub } from "../core/scrub/scrub.ts";
import type { AgentTracing } from "../core/tracing.ts";
import type { AbortReason, Origin, TurnEvent, TurnOutcome } from "./types.ts";

/** A turn that holds its slot, as observers see it. */
export interface StartedTurn {
  /** Also the id of the assistant's message. */
  readonly id: string;
  readonly agent: Readonly<ActingAgent>;
  readonly door: string;
  readonly origin: Origin;
  /** The public id of the conversation, stored or not. */
  readonly conversationRef: string;
  /** Whether the turn belongs to a stored conversation. */
  readonly stored: boolean;
  /** Whether the turn is the first of its conversation. */
  readonly begins: boolean;
  /** The turn that stopped for a decision and that this one continues; null for none. */
  readonly continues: string | null;
  /** The tool call of another agent's turn that started this one; null for none. */
  readonly askedBy: CallOfTurn | null;
  readonly requestId: string;
  /** The new messages of the user, unscrubbed: they may contain a secret. */
  readonly fresh: readonly string[];
  /** Removes the agent's secrets from a text. */
  readonly scrub: Scrub;
  /** The collector of the agent's operator; null for none. */
  readonly tracing: AgentTracing | null;
  readonly model: { readonly provider: string; readonly model: string };
  /** The last client disconnected: the turn's rule decides whether the turn goes on. */
  leave(): void;
  abort(reason: AbortReason): void;
}

/** Whether a step is the model's answer. A continued turn begins with a step of decided tool calls instead. */
export const isAnswer = ({ continues }: Pick<StartedTurn, "continues">, index: number) =>
  index > 0 || continues === null;

/** A tool call, with its turn. */
export interface CallOfTurn {
  readonly turnId: string;
  readonly toolCallId: string;
}

/** A prompt of the engine's background work that a model completes, as observers see it. */
export interface StartedCompletion
  extends Pick<StartedTurn, "id" | "agent" | "model" | "scrub" | "tracing" | "conversationRef"> {
  /** The purpose of the work, such as `extract-memories`. */
  readonly purpose: string;
  readonly prompt: string;
}

/** The ids of the rows that a turn stored in its conversation. */
export interface StoredRows {
  readonly messageIds: readonly string[];
  readonly hookExecutionIds: readonly string[];
}

export const nothingStored: StoredRows = { messageIds: [], hookExecutionIds: [] };

/** The end of a turn: its outcome, or the error that prevented recording it. */
export type TurnEnding =
  | {
      outcome: TurnOutcome;
      /** Whether clients can read the reply by the turn's id. */
      replyKept: boolean;
      stored: StoredRows;
    }
  | { unrecorded: EngineError };

/** Follows one turn. Errors and rejections of a listener don't affect the turn. */
export interface TurnListener {
  event?(event: TurnEvent): void;
  ended?(ending: TurnEnding): void;
}

/** Called for every turn of this process, synchronously, before its first event; returns null to ignore the turn. */
export interface TurnObserver {
  started(turn: StartedTurn): TurnListener | null;
  /** Called in the same way for every background completion; absent: ignores them. */
  completing?(completion: StartedCompletion): TurnListener | null;
}

/** Calls all listeners of one turn; a listener that failed gets no further events. */
export class Audience {
  readonly #log: Log;
  readonly #listeners = new Set<TurnListener>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `own`: listeners for this turn only. */
  start(
    observers: readonly TurnObserver[],
    turn: StartedTurn,
    ...own: readonly (TurnListener | null | undefined)[]
  ): void {
    for (const listener of own) if (listener) this.#listeners.add(listener);
    this.#begin(observers, (observer) => observer.started(turn));
  }

  startCompletion(observers: readonly TurnObserver[], completion: StartedCompletion): void {
    this.#begin(observers, (observer) => observer.completing?.(completion) ?? null);
  }

  event(event: TurnEvent): void {
    this.#tell(tellEvent, event);
  }

  ended(ending: TurnEnding): void {
    this.#tell(tellEnding, ending);
  }

  #begin(observers: readonly TurnObserver[], begin: (observer: TurnObserver) => TurnListener | null): void {
    for (const observer of observers) {
      try {
        const listener = begin(observer);
        if (listener) this.#listeners.add(listener);
        heed(listener, (err) => this.#complain(err));
      } catch (err) {
        this.#complain(err);
      }
    }
  }

  /** The argument is separate, since a closure would be created for each listener and token. */
  #tell<What>(tell: (listener: TurnListener, what: What) => unknown, what: What): void {
    for (const listener of this.#listeners) {
      try {
        const told = tell(listener, what);
        if (told !== undefined) heed(told, (err) => this.#dismiss(listener, err));
      } catch (err) {
        this.#dismiss(listener, err);
      }
    }
  }

  /** Removes a failed listener, and logs only its first error: promises of earlier events may still reject. */
  #dismiss(listener: TurnListener, err: unknown): void {
    if (this.#listeners.delete(listener)) this.#complain(err);
  }

  #complain(err: unknown): void {
    this.#log.error({ err }, "An observer of turns failed");
  }
}

const tellEvent = (listener: TurnListener, event: TurnEvent) => listener.event?.(event);
const tellEnding = (listener: TurnListener, ending: TurnEnding) => listener.ended?.(ending);

/** Catches the rejection of an `async` observer, which the types allow; no code awaits its promise. */
function heed(told: unknown, onFailure: (err: unknown) => void): void {
  if (told instanceof Promise) told.catch(onFailure);
}
