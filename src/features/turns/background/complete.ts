import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { AgentSeen } from "../../../core/ports.ts";
import { monthOf } from "../../../core/time/calendar.ts";
import { type Complete, type Completion, NoAnswer } from "../../../jobs/complete.ts";
import { Audience, nothingStored, type StartedCompletion, type TurnObserver } from "../../../turn/observers.ts";
import { run } from "../../../turn/run.ts";
import { TurnState } from "../../../turn/state.ts";
import type { TurnInput, TurnOutcome } from "../../../turn/types.ts";
import type { Agents } from "../access/agents.ts";
import { actingAs, type LiveAgent } from "../agent/load.ts";
import { type Answering, type AnsweringModels, answeringFor, unusableConnection } from "../agent/model.ts";
import { fallbackOf, namedOf, openModels } from "../agent/turn-models.ts";
import { amountTaken, answerTokens, bytesOf, cautiousTokens } from "../budget/estimate.ts";
import { cautiousCost, hasBudget, pricingOf } from "../budget/pricing.ts";
import type { SharedBudget } from "../budget/shared-budget.ts";
import { limitsOf } from "../prepare.ts";
import { ModelLimits } from "./model-limits.ts";

interface Dependencies {
  agents: Agents;
  budget: SharedBudget;
  observers: () => readonly TurnObserver[];
}

/** An agent, and the models to call, in this order. */
interface ModelChoice {
  agent: LiveAgent;
  models: AnsweringModels;
}

/**
 * Completes one prompt with an agent's fast model, without tools and history, on the agent's budget, once the model's
 * limit allows another call. Throws a refusal (`isRefusal`) for an agent that has no such model, is off or has spent
 * its budget, `Postponed` when the provider asks for a later call, and `NoAnswer`.
 */
export function createComplete(services: Services, { agents, budget, observers }: Dependencies): Complete {
  const limits = new ModelLimits(services);
  const admit = async (seen: AgentSeen, ownModel: boolean) => {
    const { agent } = await agents.admitSeen(seen, { type: "engine", whileInactive: false });
    const fast = answeringFor(services, agent, "fast");
    const answering = fast.wanted === null && ownModel ? answeringFor(services, agent, "chat") : fast;
    return { agent, models: usableModels(answering) };
  };
  const ask = async (
    { agent, models }: ModelChoice,
    prompt: string,
    { purpose, conversationRef, signal }: Completion,
  ) => {
    const input = inputOf(services, agent, { prompt, conversationRef, models: await openModels(services, models) });
    const audience = new Audience(services.log);
    audience.startCompletion(observers(), describe(input, { agent, models }, purpose));
    const outcome = await run(input, signal, services.clock, (event) => {
      if (event.type === "model-fallback") services.fallbacks.tell(fallbackOf(event, agent, input.requestId));
      audience.event(event);
    });
    audience.ended({ outcome, replyKept: false, stored: nothingStored });
    return outcome;
  };
  return async (seen, prompt, job) => {
    const { signal, attempts, ownModel = false } = job;
    const { agent, models } = await admit(seen, ownModel);
    const askNow = async () => {
      // The agent may have changed while the call waited.
      const asked = await admit(seen, ownModel);
      return onBudget({ services, budget, signal }, asked, prompt, () => ask(asked, prompt, job));
    };
    const call = { owner: agent.row.organizationId, signal, ask: askNow, model: namedOf(models[0]) };
    const outcome = await limits.of(models[0].spec).call(attempts === undefined ? call : { ...call, attempts });
    if (outcome.status === "done") return outcome.text;
    // The message is the engine's own; the provider's may contain secrets or the prompt.
    if (outcome.status !== "failed") throw new NoAnswer(`The model was ${outcome.status}`);
    const { message, hint } = outcome.failure;
    throw new NoAnswer(hint === undefined ? message : `${message}: ${hint}`);
  };
}

/**
 * The models to call. Throws the refusal of an agent without any, and `NoAnswer` where the configured one may not answer.
 */
function usableModels({ models: [first, ...others], wanted }: Answering): AnsweringModels {
  if (first) return [first, ...others];
  throw wanted ? new NoAnswer(unusableConnection) : new EngineError("not-found", "The agent has no fast model");
}

/** A completion as observers get it. */
function describe(
  { turnId: id, conversationRef, fresh }: TurnInput,
  { agent, models: [{ spec }] }: ModelChoice,
  purpose: string,
): StartedCompletion {
  const { provider, model } = spec;
  const prompt = fresh.join("\n");
  const { scrub, tracing } = agent;
  return {
    id,
    conversationRef,
    prompt,
    purpose,
    scrub,
    tracing,
    agent: actingAs(agent),
    model: { provider, model },
  };
}

function inputOf(
  { policies }: Services,
  agent: LiveAgent,
  { prompt, ...given }: Pick<TurnInput, "conversationRef" | "models"> & { prompt: string },
): TurnInput {
  const { row, scrub } = agent;
  const id = newId();
  return {
    turnId: id,
    requestId: id,
    ...given,
    conversation: null,
    agent: { id: row.id, slug: row.slug, name: row.name },
    origin: { channel: "background", channelId: "", source: "user", depth: 0, subject: "" },
    settings: { thinking: false },
    system: "",
    stable: 0,
    history: [],
    fresh: [prompt],
    continued: null,
    tools: new Map(),
    // `ModelLimit` itself retries the call, since it knows how many others wait.
    limits: { ...limitsOf(policies.values, 1), attempts: 1 },
    hooks: [],
    state: new TurnState(),
    reserve: null,
    scrub,
  };
}

interface Payment {
  services: Services;
  budget: SharedBudget;
  signal: AbortSignal;
}

/** Reserves in the agent's budgets, awaits `ask`, and charges what it took. Throws the budget's 429. */
async function onBudget(
  { services, budget, signal }: Payment,
  { agent, models }: ModelChoice,
  prompt: string,
  ask: () => Promise<TurnOutcome>,
): Promise<TurnOutcome> {
  if (!hasBudget(agent)) return ask();
  const promptBytes = bytesOf([prompt]);
  const pricing = pricingOf(agent, models);
  const [asked, answer] = [cautiousTokens(promptBytes), answerTokens(agent)];
  const amount = { tokens: asked + answer, cost: cautiousCost(asked, answer, pricing.price) };
  const hold = { id: newId(), agentId: agent.row.id, month: monthOf(services.clock.now()), ...amount };
  let used = { tokens: 0, cost: 0 };
  try {
    await budget.reserve(hold);
    const outcome = await ask();
    used = amountTaken(outcome, promptBytes, pricing);
    return outcome;
  } finally {
    await budget.settle({ ...hold, used }, signal);
  }
}
