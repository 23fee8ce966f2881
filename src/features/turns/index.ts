import type { Services } from "../../context/ctx.ts";
import type { Contribution, ToolSource } from "../../contribution.ts";
import { apiKeySecret, baseUrlSecret, missingSecret, type ProviderName } from "../../core/models/providers.ts";
import type { Embedder } from "../../core/ports.ts";
import { vacuumWorn } from "../../db/vacuum.ts";
import type { Complete } from "../../jobs/complete.ts";
import { Agents } from "./access/agents.ts";
import { OpenStreams } from "./access/open-streams.ts";
import { embedderFor } from "./agent/embedder.ts";
import { loadAgent } from "./agent/load.ts";
import { answeringFor, requireUsable } from "./agent/model.ts";
import { continueDecided } from "./approvals/continue.ts";
import { expireWaiting } from "./approvals/waiting.ts";
import { createComplete } from "./background/complete.ts";
import { createCorrectedBudgets } from "./budget/drift.ts";
import { createEndedBudgets } from "./budget/ended.ts";
import { sharedBudget } from "./budget/shared-budget.ts";
import { eraseTurns } from "./end/erase.ts";
import { replySent } from "./end/reply-sent.ts";
import { turnLog } from "./end/turn-log.ts";
import { dueFollowUps } from "./follow-up/due.ts";
import { followUpJobs } from "./follow-up/jobs.ts";
import type { ContinuedBy } from "./request.ts";
import { createRunningTurns, type RunningTurns, type TurnsOptions } from "./turns.ts";
import { type AttemptTurn, createAttempt } from "./unattended/attempt.ts";

// Every door (chat, messengers, Room, tasks, agents) calls these functions. This feature imports no door.

/** Permission to use an agent. */
export {
  AgentRefusal,
  type Asker,
  admit,
  allowsOrigin,
  bearer,
  type Caller,
  type Grant,
  invalidKey,
  needsKey,
  presentedKey,
  type Reached,
  refuseKey,
  WrongKey,
} from "./access/admit.ts";
export type { Agents } from "./access/agents.ts";
/** The open replies to clients. */
export type { OpenStreams, Seat } from "./access/open-streams.ts";
export type { WatchedStream } from "./access/reading.ts";
export { actingAs, type LiveAgent } from "./agent/load.ts";
/** Messenger rows that are written together with their turn. */
export { type Alongside, type AlongsideOf, type ContinuedPlace, nothing } from "./alongside.ts";
/** Records a person's decision about a waiting call. */
export { decide } from "./approvals/decide.ts";
/** Lists the calls that wait for a decision. */
export { listWaiting } from "./approvals/list.ts";
/** The tokens that budgets hold without a call. */
export { type BudgetsReport, inspectBudgets } from "./budget/drift.ts";
/** The error and the state of an ended turn, for its caller. */
export { endingError, wasStopped } from "./end/ending.ts";
export { approvalMetadata, servedBy } from "./end/record.ts";
/** A request in the queue for its ticket in a conversation. */
export type { Arrival } from "./place/arrivals.ts";
export type { StoredReply } from "./place/idempotency.ts";
export type { ContinuedBy, CountedCall, Idempotency, TurnRequest } from "./request.ts";
export type { Turn } from "./turns.ts";
/** Unattended work: one attempt, and the rules about its end. */
export { type Attempt, type AttemptResult, watchTools } from "./unattended/attempt.ts";
export { type AttemptEnd, endOfError, giveUp, isStored, repeatLater, type Tries } from "./unattended/end.ts";
export { type Fate, fateOf } from "./unattended/last-turn.ts";

interface Options extends TurnsOptions {
  /** The tools that features above this one add. */
  toolSources: () => readonly ToolSource[];
  continuedBy: ContinuedBy;
}

export interface Turns extends Pick<RunningTurns, "takeTurn" | "arrive" | "findRepeat"> {
  attempt: AttemptTurn;
  agents: Agents;
  streams: OpenStreams;
  /** Completes a prompt with the fast model of an agent, for background work. */
  complete: Complete;
  /** The embedder for an agent's memories; null without one. Throws an `AgentRefusal`. */
  embedderOf(slug: string): Promise<Embedder | null>;
  /** Continues the stopped turn `turnId` after the decisions about its calls; null continues all such turns. */
  continueDecided(turnId: string | null): Promise<void>;
  /** Runs the `response_sent` hooks of a turn whose reply was sent after the turn was recorded. */
  replySent(turnId: string, signal: AbortSignal): Promise<void>;
  contribution: Contribution;
}

/** The turns of this process. */
export function createTurns(services: Services, { toolSources, continuedBy, ...options }: Options): Turns {
  const agents = new Agents(services, toolSources);
  const turns = createRunningTurns(services, { ...options, reload: (slug) => agents.reload(slug) });
  const streams = new OpenStreams(services, agents);
  const continueTurns = (turnId: string | null) => continueDecided({ services, agents, turns, continuedBy }, turnId);
  const by = { type: "engine", whileInactive: false } as const;
  const deleteEndedBudgets = createEndedBudgets(services);
  const correctBudgets = createCorrectedBudgets(services);
  const { soleProcess } = services.options;
  const budget = sharedBudget(services, options.heartbeat);
  const complete = createComplete(services, { agents, budget, observers: options.observers });
  return {
    agents,
    streams,
    takeTurn: turns.takeTurn,
    attempt: createAttempt(services, { agents, takeTurn: turns.takeTurn }),
    arrive: turns.arrive,
    findRepeat: turns.findRepeat,
    complete,
    embedderOf: async (slug) => embedderFor(services, (await agents.admitNow(slug, by)).agent),
    continueDecided: continueTurns,
    replySent: (turnId, signal) => replySent(services, agents, turnId, signal),
    contribution: {
      observers: [turnLog(services)],
      jobs: followUpJobs({ services, complete }),
      due: dueFollowUps,
      ticks: {
        often: [
          () => streams.closeRevoked(),
          ...(soleProcess ? [() => vacuumWorn(services.database, turns.isQuiet)] : []),
        ],
        seldom: [
          turns.closeDead,
          budget.settleLost,
          () => expireWaiting(services),
          () => continueTurns(null),
          deleteEndedBudgets,
          correctBudgets,
        ],
      },
      erase: eraseTurns,
      boot: turns.boot,
      stop: turns.stop,
    },
  };
}

/**
 * The agent's current model, and the secret that the model's provider needs but lacks; null for an unknown agent. Throws
 * the 503 of an agent whose connection is not usable.
 */
export async function answeringModel(
  services: Services,
  slug: string,
): Promise<{ provider: ProviderName; model: string; missing: string | null } | null> {
  const agent = await loadAgent(services, slug);
  if (!agent) return null;
  const [{ spec }] = requireUsable(answeringFor(services, agent, "chat"));
  const { provider, model, apiKey, baseUrl } = spec;
  const held = new Map([
    [apiKeySecret(provider), apiKey],
    [baseUrlSecret(provider), baseUrl],
  ]);
  return { provider, model, missing: missingSecret(provider, (secret) => held.get(secret) !== undefined) };
}
