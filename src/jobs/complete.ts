import type { AgentSeen } from "../core/ports.ts";

/**
 * Returns the reply of an agent's fast model to a prompt, for background work, without the agent's secrets. Rejects
 * with an `EngineError` `not-found` for an inactive or deleted agent and `rate-limited` for a spent budget, and with
 * `NoAnswer` when the model gave no reply. The messages of other errors are stored and logged, and must contain no
 * secret.
 */
export type Complete = (agent: AgentSeen, prompt: string, job: Completion) => Promise<string>;

/** The parts of an attempt that its model calls need. */
export interface CallLimits {
  signal: AbortSignal;
  /** The most calls of a model that refuses temporarily; absent: 3. A job that is retried itself passes 1. */
  attempts?: number;
}

/** The limits of the model calls of one attempt. */
export interface Completion extends CallLimits {
  /** The purpose of the work, such as `extract-memories`, for tracing. */
  purpose: string;
  /** The public id of the conversation that the prompt is about. */
  conversationRef: string;
  /** Whether an agent without a fast model uses its own model. Otherwise such an agent is refused with `not-found`. */
  ownModel?: boolean;
}

/** Thrown when a model failed or was interrupted. The message is the engine's own text. */
export class NoAnswer extends Error {}
