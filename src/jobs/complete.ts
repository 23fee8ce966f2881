import type { AgentSeen } from "../core/ports.ts";
import type { Together } from "./together.ts";

/**
 * The answer of an agent's fast model to a prompt, for background work, without the agent's secrets. Rejects with an
 * `EngineError` `not-found` when the agent is off or gone and `rate-limited` when its budget is spent, and with `NoAnswer`
 * when the model gave none. The messages of other errors are stored and logged, and must hold no secret.
 */
export type Complete = (agent: AgentSeen, prompt: string, job: Completion) => Promise<string>;

/** What the job that asks was given. */
export interface Asking {
  signal: AbortSignal;
  together: Together;
  /** How often the model is asked while it pushes back; absent: 3. A job that is done again itself says 1. */
  attempts?: number;
}

/** One prompt of background work. */
export interface Completion extends Asking {
  /** What the work is, such as `extract-memories`, for whoever traces it. */
  purpose: string;
  /** The public id of the conversation that the work is about. */
  conversationRef: string;
  /** Whether an agent without a fast model is asked with its own one; absent: that agent is refused with `not-found`. */
  ownModel?: boolean;
}

/** A model failed, or was interrupted. The message is the engine's own. */
export class NoAnswer extends Error {}
