import type { ActingAgent } from "../activity/activity.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../limits/circuit-breaker.ts";
import type { Clock } from "../ports.ts";

/** A model as it is shown: its provider, and the connection whose key it uses (null: a secret or the environment's). */
export interface NamedModel {
  readonly provider: string;
  readonly model: string;
  readonly connectionId: string | null;
  /** The connection's name. */
  readonly connection: string | null;
}

/** The name of a model for people. */
export const labelOf = ({ connection, provider, model }: NamedModel) =>
  connection === null ? `${provider}:${model}` : `${connection} (${model})`;

/** A model was not called, or failed before any output, and the next one is called. */
export interface Fallback {
  agent: Pick<ActingAgent, "id" | "slug" | "organizationId">;
  requestId: string;
  from: NamedModel;
  to: NamedModel;
  /** The failure's code. `resting`: the connection of `from` rests after failures. */
  code: string;
}

/** The number of failures in a row after which a connection rests, and the length of its rest (managed edition, M6). */
const rests = { failures: 3, restMs: () => 30_000 };

/** The fallbacks of this process, and its resting connections, by their ids. */
export class Fallbacks {
  readonly breaker: CircuitBreaker;
  readonly #listeners: ((fallback: Fallback) => void)[] = [];

  constructor(clock: Clock) {
    this.breaker = createCircuitBreaker(clock, rests);
  }

  /** Calls `listener`, which must not throw, with every fallback. */
  listen(listener: (fallback: Fallback) => void): void {
    this.#listeners.push(listener);
  }

  tell(fallback: Fallback): void {
    for (const listener of this.#listeners) listener(fallback);
  }
}
