import type { AgentSeen } from "../core/ports.ts";

/**
 * The answer of an agent's fast model to a prompt, for background work, without the agent's secrets. Rejects with an
 * `EngineError` `not-found` when the agent is off or gone and `rate-limited` when its budget is spent, and with `NoAnswer`
 * when the model gave none. The messages of other errors are stored and logged, and must hold no secret.
 */
export type Complete = (agent: AgentSeen, prompt: string, job: Completion) => Promise<string>;

/** The parts of an attempt that its model calls need. */
export interface Asking {
  signal: AbortSignal;
  /** How many times a model that refuses for a moment is called; absent: 3. A job that is retried itself passes 1. */
  attempts?: number;
}

/** One prompt of background work. */
export interface Completion extends Asking {
  /** The purpose of the work, such as `extract-memories`, for tracing. */
  purpose: string;
  /** The public id of the conversation that the work is about. */
  conversationRef: string;
  /** Whether an agent without a fast model uses its own model; absent: that agent is refused with `not-found`. */
  ownModel?: boolean;
}

/** A model failed, or was interrupted. The message is the engine's own. */
export class NoAnswer extends Error {}
