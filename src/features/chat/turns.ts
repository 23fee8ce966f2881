import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { pause } from "../../core/pause.ts";
import { type Database, sqlState } from "../../db/client.ts";
import { unlessDeadlocked } from "../../db/retry.ts";
import { refusalHeaders } from "../../http/throttle.ts";
import { isBuffered } from "../../turn/hooks.ts";
import { type Relay, relay } from "../../turn/relay.ts";
import { run } from "../../turn/run.ts";
import type { Grant } from "./admit.ts";
import { type Begun, begin, firstReservation, promptRoom, type Taken } from "./begin.ts";
import { budgetSpent, settle } from "./budget.ts";
import { finish } from "./finish.ts";
import { stillRunning } from "./idempotency.ts";
import { WaitingLine } from "./line.ts";
import { modelSpec } from "./model.ts";
import { type Opened, type Opening, open, waitingLimit } from "./open.ts";
import { hooksAt } from "./prepare.ts";
import { closeLost, promote, renew } from "./queue.ts";
import type { TurnRequest } from "./request.ts";

/** How often a waiting turn asks, in case the one before it runs on another replica. */
const pollMs = 250;

export interface Turn extends Relay {
  id: string;
  /** Whether its reply can be known by this id; once it has ended. */
  readonly kept: boolean;
}

type StoredPlace = NonNullable<Taken["place"]["conversation"]>;

export type Turns = ReturnType<typeof createTurns>;

/** The turns of this process: opens them, keeps their leases, lets them wait for each other, and ends them at a stop. */
export function createTurns(
  services: Services,
  { reload, onWork }: { reload: (grant: Grant) => Promise<Grant>; onWork: (at: number) => void },
) {
  const { database, clock, log } = services;
  const owner = newId();
  const running = new Map<string, Relay>();
  const line = new WaitingLine();
  /** Turns that ask for their place: not running yet, but a stop has to wait for them too. */
  const opening = new Set<Promise<Turn>>();
  let stopping = false;

  const waitForPlace = async (turnId: string, { id, ticket }: StoredPlace, signal: AbortSignal) => {
    for (;;) {
      const { woken, leave } = line.join(id, ticket);
      try {
        if (await promote(database, turnId, owner)) return signal.throwIfAborted();
        await Promise.race([woken, pause(clock, pollMs, signal)]);
      } finally {
        leave();
      }
    }
  };

  const takePlace = async (turnId: string, grant: Grant, request: TurnRequest): Promise<Taken> => {
    const { input, origin, ref, parentId = null, door, requestId, throttle } = request;
    const { channel, channelId, source, subject } = origin;
    let current = grant;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { row, fingerprint } = current.agent;
      const spec = modelSpec(services, current.agent);
      const room = promptRoom(current.agent, spec, request);
      const reservation = firstReservation(current.agent, room, input, clock.now());
      const opened = await openAgain(database, {
        ...{ turnId, owner, door, requestId, fingerprint, source, subject, room, reservation },
        agentId: row.id,
        agentRevision: row.revision,
        provider: spec.provider,
        model: spec.model,
        historyLimit: input.chatId === null ? 0 : row.historyLimit,
        continues: request.resumed?.turnId ?? null,
        idempotency: request.idempotency ?? null,
        remembers: row.memoryEnabled,
        conversation: input.chatId === null ? null : { id: newId(), ref, channel, channelId, parentId },
        // A second attempt is still the same call.
        throttle: attempt === 1 ? throttle : null,
      });
      if (opened.kind === "head" || opened.kind === "queued") {
        return { grant: current, place: opened, spec, room, reservation };
      }
      if (opened.kind === "spent") throw budgetSpent(row.monthlyTokenBudget ?? 0, clock.now());
      if (opened.kind === "changed") {
        current = await reload(current);
        continue;
      }
      if (opened.kind === "full" && reservation)
        await settle(database, { ...reservation, tokens: opened.held, agentId: row.id, used: 0 });
      // A crowd of dead turns must not keep the living out.
      if ((await closeLost(database)) === 0) throw lineFull();
    }
    throw new EngineError("unavailable", "The agent is being changed; try again", { headers: { "Retry-After": "1" } });
  };

  const startTurn = async (grant: Grant, request: TurnRequest): Promise<Turn> => {
    if (stopping) throw stoppingError();
    const turnId = newId();
    const taken = await takePlace(turnId, grant, request);
    const { conversation, reading } = taken.place;
    const buffered = isBuffered(hooksAt(taken.grant.agent, request.origin));
    let begun: Begun | null = null;
    let kept = false;
    let waits = taken.place.kind === "queued";
    const turn = relay({
      // A reply that is held back is finished whoever waits for it (spec "Buffered turn"), once its turn has come.
      get rule() {
        return buffered && !waits ? "always-finish" : request.rule;
      },
      start: async (signal) => {
        if (waits && conversation) await waitForPlace(turnId, conversation, signal);
        waits = false;
        begun = await begin(services, { turnId, request, taken, reading });
        return run(begun.input, signal, clock);
      },
      record: async (outcome) => {
        try {
          const { workAt, replyKept } = await finish(services, { turnId, owner, request, taken, begun, outcome });
          kept = replyKept;
          if (workAt !== null) onWork(workAt);
        } finally {
          running.delete(turnId);
          if (taken.place.conversation) line.wake(taken.place.conversation.id);
        }
      },
    });
    running.set(turnId, turn);
    if (stopping) turn.abort("shutdown");
    return {
      ...turn,
      id: turnId,
      get kept() {
        return kept;
      },
    };
  };

  /** What every door calls. Throws the refusals that come before a turn; everything later is in the relay. */
  const takeTurn = (grant: Grant, request: TurnRequest): Promise<Turn> => {
    const starting = startTurn(grant, request);
    opening.add(starting);
    return starting.finally(() => opening.delete(starting));
  };

  /** Renews the leases; a turn whose lease is gone is no longer ours to run. */
  const renewLeases = async () => {
    // Turns may begin and end meanwhile: only those that were asked about can have lost their lease.
    const asked = [...running];
    const held = await renew(
      database,
      owner,
      asked.map(([id]) => id),
    );
    for (const [id, turn] of asked) {
      const lease = held.get(id);
      if (!lease) turn.abort("lease-lost");
      else if (lease.stopRequested) turn.abort("stop");
    }
  };

  /** Frees the conversations of dead processes. */
  const tick = async () => {
    const lost = await closeLost(database);
    if (lost > 0) log.warn({ lost }, "Closed turns whose process is gone");
  };

  const stop = async (graceMs: number) => {
    stopping = true;
    const ended = () => Promise.allSettled([...running.values()].map((turn) => turn.ended));
    const grace = Promise.withResolvers<void>();
    const cancel = clock.after(graceMs, grace.resolve);
    await Promise.race([ended(), graceMs === 0 ? undefined : grace.promise]);
    cancel();
    for (const turn of running.values()) turn.abort("shutdown");
    await Promise.allSettled([...opening]);
    await ended();
  };

  return { takeTurn, renewLeases, tick, stop };
}

function lineFull(): EngineError {
  return new EngineError("rate-limited", "Too many turns wait in this conversation", {
    headers: refusalHeaders({ limit: waitingLimit, remaining: 0, resetSeconds: 5 }),
  });
}

/** `open`, repeated after deadlocks; an agent that is deleted meanwhile counts as changed. */
async function openAgain(database: Database, opening: Opening): Promise<Opened> {
  try {
    return await unlessDeadlocked(() => open(database, opening));
  } catch (error) {
    const state = sqlState(error);
    if (state === "23503") return { kind: "changed" };
    // The same request came at the same moment.
    if (state === "23505" && opening.idempotency) throw stillRunning();
    throw error;
  }
}

function stoppingError(): EngineError {
  return new EngineError("unavailable", "The server is stopping", { headers: { "Retry-After": "5" } });
}
