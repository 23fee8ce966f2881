import type { Services } from "../../../context/ctx.ts";
import { EngineError, ProviderSetupError } from "../../../core/errors.ts";
import { randomHex } from "../../../core/ids.ts";
import type { AgentSeen } from "../../../core/ports.ts";
import { type CallLimits, type Complete, NoAnswer } from "../../../jobs/complete.ts";
import { type AttemptEnd, endOfError, type Tries } from "../../turns/index.ts";
import { matchingPrompt } from "../events/matching-prompt.ts";
import type { EventDefinition } from "../sources/find.ts";
import { type MatchState, nextStep, passed, type Step, verdictOf } from "./rules.ts";
import type { Verdict } from "./schema.ts";

/** How the matching of an event ended: with a definition, or without one. */
type MatchStep = Extract<Step<EventDefinition>, { kind: "act" | "end" }>;

/** An event that is being matched. */
interface MatchTask extends MatchState {
  agent: AgentSeen;
  /** When the event arrived, in milliseconds since the epoch. */
  receivedAt: number;
  /** The enabled definitions of its source, in order. */
  definitions: readonly EventDefinition[];
  /** Verdicts are added one by one, so that a later attempt continues after an error. */
  verdicts: Verdict[];
  /** Called for each answer that says neither yes nor no. */
  warn(verdict: Verdict): void;
}

/**
 * Asks the agent's fast model, or else its own model, about one definition after the other, until one describes the
 * event. Throws the errors of `complete`.
 */
export type Judge = (judging: MatchTask, limits: CallLimits) => Promise<MatchStep>;

export function createJudge({ clock }: Pick<Services, "clock">, complete: Complete): Judge {
  return async (judging, limits) => {
    const { definitions, agent, payload, verdicts, warn } = judging;
    const of = { purpose: "match-event", conversationRef: `room:${agent.slug}:${judging.receivedAt}`, ownModel: true };
    for (;;) {
      const step = nextStep(definitions, judging);
      if (step.kind === "act" || step.kind === "end") return step;
      const { definition } = step;
      if (step.kind === "pass") {
        verdicts.push(passed(definition, step.unmet, clock.now()));
        continue;
      }
      const prompt = matchingPrompt({ description: definition.matchingPrompt, payload, mark: randomHex(24) });
      const answer = await complete(agent, prompt, { ...limits, ...of });
      limits.signal.throwIfAborted();
      const verdict = verdictOf(definition, answer, clock.now());
      verdicts.push(verdict);
      if (verdict.warning !== undefined) warn(verdict);
    }
  };
}

/** How an attempt to ask the model failed; null for an error that concerns neither the model nor the agent. */
export function endOfAsking(error: unknown, tries: Tries): AttemptEnd | null {
  const isKnown = error instanceof EngineError || error instanceof NoAnswer || error instanceof ProviderSetupError;
  return isKnown ? endOfError(error, tries) : null;
}

/** The outcome of an event whose definitions could not be checked. */
export const outcomeOf = (end: AttemptEnd) =>
  end.kind === "give-up" && end.why === "off" ? "room-off" : "matcher-failed";
