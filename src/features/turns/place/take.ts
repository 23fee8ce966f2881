import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { newId } from "../../../core/ids.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import { type Database, sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import type { Grant } from "../access/admit.ts";
import { AgentChanged } from "../access/agents.ts";
import { modelSpec } from "../agent/model.ts";
import { budgetSpent, releaseForUser, settle } from "../budget/budget.ts";
import { type FirstReservation, firstReservation, type PromptRoom, promptRoom } from "../budget/estimate.ts";
import type { TurnRequest } from "../request.ts";
import { stillRunning } from "./idempotency.ts";
import type { Leases } from "./leases.ts";
import { type Opened, type Opening, open } from "./open.ts";
import { waitingLimit } from "./open-statement.ts";
import { withContext } from "./state.ts";

/** A turn that has its ticket, with the agent and the model that answer. */
export interface Taken {
  grant: Grant;
  place: Extract<Opened, { kind: "head" | "queued" }>;
  spec: ModelSpec;
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
  const spec = modelSpec(services, grant.agent, request.model);
  const room = promptRoom(grant.agent, spec, request);
  const reservation = firstReservation(grant.agent, room, request, clock.now());
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
      provider: spec.provider,
      model: spec.model,
      historyLimit: stored ? row.historyLimit : 0,
      continues: request.continued?.turnId ?? null,
      idempotency: request.idempotency ?? null,
      remembers: row.memoryEnabled,
      conversation: stored ? { id: newId(), ref, channelId, parentId } : null,
      // The second attempt is for the same request, so it is not counted again.
      throttle: attempt === 1 ? throttle : null,
    });
    if (opened.kind === "head" || opened.kind === "queued") return { grant, place: opened, spec, room, reservation };
    if (opened.kind === "user-spent") throw budgetSpent("end user", row.userMonthlyTokenBudget ?? 0, clock.now());
    if (opened.kind === "changed") throw new AgentChanged();
    const tokens = "held" in opened ? opened.held : 0;
    const held = reservation && { ...reservation, tokens, agentId: row.id };
    if (held?.ofUser) await releaseForUser(database, { ...held, subject });
    if (opened.kind === "spent") throw budgetSpent("agent", row.monthlyTokenBudget ?? 0, clock.now());
    if (held?.ofAgent) await settle(database, { ...held, used: 0 });
    // A full queue of dead turns must not keep out living ones.
    if ((await leases.closeLost()) === 0) break;
  }
  throw lineFull();
}

export function lineFull(): EngineError {
  return new EngineError("rate-limited", "Too many turns wait in this conversation", {
    limit: { limit: waitingLimit, remaining: 0, resetSeconds: 5 },
  });
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
