import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import { type Database, sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import { AgentRefusal, type Grant } from "../access/admit.ts";
import { AgentChanged } from "../access/agents.ts";
import { type LiveAgent, withModelsOf } from "../agent/load.ts";
import { type Answering, answeringFor, firstModel } from "../agent/model.ts";
import { refusal, releaseForUser } from "../budget/budget.ts";
import { type FirstReservation, firstReservation, type PromptRoom, promptRoom } from "../budget/estimate.ts";
import { pricingOf } from "../budget/pricing.ts";
import { settle } from "../budget/settle.ts";
import type { TurnRequest } from "../request.ts";
import { stillRunning } from "./idempotency.ts";
import type { Leases } from "./leases.ts";
import { type Opened, type Opening, open } from "./open.ts";
import { waitingLimit } from "./open-statement.ts";
import { withContext } from "./state.ts";

/** A turn that has its ticket, with the agent and the models that answer. */
export interface Taken {
  grant: Grant;
  place: Extract<Opened, { kind: "head" | "queued" }>;
  answering: Answering;
  room: PromptRoom;
  reservation: FirstReservation | null;
}

interface Wanted {
  turnId: string;
  leases: Leases;
  grant: Grant;
  request: TurnRequest;
}

const attempts = 5;

/**
 * Writes the request's context and takes a ticket for its turn. Throws `AgentChanged` when the agent is not the grant's
 * any more, the 413 of a too large context, and the 429s of throttle, budget and full queue.
 */
export async function takePlace(services: Services, wanted: Wanted): Promise<Taken> {
  const { callContext, ref, origin } = wanted.request;
  if (!callContext) return openPlace(services, wanted);
  const { id: agentId, revision: agentRevision } = wanted.grant.agent.row;
  const { channel, channelId, subject } = origin;
  const place = { agentId, agentRevision, subject, conversation: { id: newId(), ref, channel, channelId } };
  return withContext(services.database, place, callContext, () => openPlace(services, wanted));
}

async function openPlace(services: Services, { turnId, leases, grant, request }: Wanted): Promise<Taken> {
  const { database, clock } = services;
  const { origin, ref, stored, parentId = null, door, requestId, throttle } = request;
  const { channel, channelId, source, subject } = origin;
  const { row, fingerprint } = grant.agent;
  const answering = answeringFor(services, grant.agent, "chat", request.model);
  requireAdmitted(answering, request);
  const first = firstModel(answering);
  const room = promptRoom(grant.agent, first, request);
  const { price } = pricingOf(grant.agent, answering.models);
  const reservation = firstReservation(grant.agent, { room, request, price }, clock.now());
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const opened = await openAgain(database, {
      turnId,
      owner: leases.owner,
      door,
      requestId,
      fingerprint,
      room,
      reservation,
      channel,
      source,
      subject,
      agentId: row.id,
      agentRevision: row.revision,
      provider: first.provider,
      model: first.model,
      historyLimit: stored ? row.historyLimit : 0,
      continues: request.continued?.turnId ?? null,
      idempotency: request.idempotency ?? null,
      remembers: row.memoryEnabled,
      conversation: stored ? { id: newId(), ref, channelId, parentId } : null,
      // The second attempt is for the same request, so it is not counted again.
      throttle: attempt === 1 ? throttle : null,
    });
    if (opened.kind === "changed") throw new AgentChanged();
    if (!("held" in opened)) return { grant, place: opened, answering, room, reservation };
    const held = { agentId: row.id, month: reservation?.month ?? "", ...opened.held };
    if (opened.kind === "user-spent") throw await refusal(services, { ...held, subject }, limitsOfUser(row));
    if (reservation?.ofUser) await releaseForUser(database, { ...held, subject });
    if (opened.kind === "spent") throw await refusal(services, held, limitsOfAgent(row));
    if (reservation?.ofAgent) await settle(database, { ...held, used: nothing });
    // A full queue of dead turns must not keep out living ones.
    if ((await leases.closeLost()) === 0) break;
  }
  throw lineFull();
}

/**
 * Throws the 400 of a model that a person named and the workspace does not admit. A turn that goes on after a decision
 * fails instead, since it would otherwise be continued again and again.
 */
function requireAdmitted({ models, reason }: Answering, { model, continued }: TurnRequest): void {
  if (model === undefined || continued || models.length > 0 || reason !== "not-admitted") return;
  throw new AgentRefusal("bad-request", "The workspace does not admit it");
}

const nothing = { tokens: 0, cost: 0 };

const limitsOfAgent = ({ monthlyTokenBudget, monthlyCostBudget }: LiveAgent["row"]) => ({
  tokens: monthlyTokenBudget,
  cost: monthlyCostBudget,
});

const limitsOfUser = ({ userMonthlyTokenBudget, userMonthlyCostBudget }: LiveAgent["row"]) => ({
  tokens: userMonthlyTokenBudget,
  cost: userMonthlyCostBudget,
});

export function lineFull(): EngineError {
  return new EngineError("rate-limited", "Too many turns wait in this conversation", {
    limit: { limit: waitingLimit, remaining: 0, resetSeconds: 5 },
  });
}

interface Promoted {
  taken: Taken;
  request: TurnRequest;
  /** The agent's revision when the turn runs. */
  revision: number;
  reload: (slug: string) => Promise<LiveAgent | null>;
}

/**
 * A turn that waited, with the models and keys that its agent has when it runs (decisions §5, "A change is in force at
 * once"). Its prompt and tools stay.
 */
export async function withCurrentModels(
  services: Services,
  { taken, request, revision, reload }: Promoted,
): Promise<Taken> {
  const { agent, by } = taken.grant;
  if (revision === agent.row.revision) return taken;
  const current = await reload(agent.row.slug);
  if (!current) return { ...taken, answering: { ...taken.answering, models: [] } };
  const answering = answeringFor(services, current, "chat", request.model);
  const room = promptRoom(agent, firstModel(answering), request);
  return { ...taken, answering, room, grant: { agent: withModelsOf(agent, current), by } };
}

/** Repeats `open` after deadlocks. An agent that is deleted meanwhile counts as changed. */
async function openAgain(database: Database, opening: Opening): Promise<Opened> {
  try {
    return await unlessDeadlocked(() => open(database, opening));
  } catch (error) {
    const state = sqlState(error);
    if (state === "23503") return { kind: "changed" };
    // The same request arrived at the same moment.
    if (state === "23505" && opening.idempotency) throw stillRunning();
    throw error;
  }
}
