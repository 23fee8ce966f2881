import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { pause } from "../../core/pause.ts";
import { type DisconnectRule, type Relay, relay } from "../../turn/relay.ts";
import { run } from "../../turn/run.ts";
import type { Origin, TurnInput, TurnOutcome } from "../../turn/types.ts";
import type { Grant } from "./admit.ts";
import type { ChatInput } from "./input.ts";
import { WaitingLine } from "./line.ts";
import { modelSpec } from "./model.ts";
import { type Opened, type Opening, open, readHistory } from "./open.ts";
import { prepare, replay } from "./prepare.ts";
import { closeLost, promote, renew } from "./queue.ts";
import { record } from "./record.ts";

/** How often a waiting turn asks, in case the one before it runs on another replica. */
const pollMs = 250;

export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  input: ChatInput;
  rule: DisconnectRule;
  requestId: string;
  throttle: Opening["throttle"];
}

export interface Turn extends Relay {
  id: string;
}

type Place = Extract<Opened, { kind: "head" | "queued" }>;
type StoredPlace = NonNullable<Place["conversation"]>;

export type Turns = ReturnType<typeof createTurns>;

/** The turns of this process: opens them, keeps their leases, lets them wait for each other, and ends them at a stop. */
export function createTurns(services: Services, reload: (grant: Grant) => Promise<Grant>) {
  const { database, clock, log } = services;
  const owner = newId();
  const running = new Map<string, Relay>();
  const line = new WaitingLine();
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

  const takePlace = async (turnId: string, grant: Grant, request: TurnRequest) => {
    const { input, origin, ref, door, requestId, throttle } = request;
    let current = grant;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { row, fingerprint } = current.agent;
      const spec = modelSpec(services, current.agent);
      const opened = await open(database, {
        turnId,
        owner,
        door,
        requestId,
        fingerprint,
        agentId: row.id,
        agentRevision: row.revision,
        subject: origin.subject,
        provider: spec.provider,
        model: spec.model,
        historyLimit: input.chatId === null ? 0 : row.historyLimit,
        conversation:
          input.chatId === null ? null : { id: newId(), ref, channel: origin.channel, channelId: origin.channelId },
        // A second attempt is still the same call.
        throttle: attempt === 1 ? throttle : null,
      });
      if (opened.kind === "head" || opened.kind === "queued") return { grant: current, place: opened, spec };
      if (opened.kind === "changed") current = await reload(current);
      // A crowd of dead turns must not keep the living out.
      else if ((await closeLost(database)) === 0) throw tooManyWait();
    }
    throw new EngineError("unavailable", "The agent is being changed; try again", { headers: { "Retry-After": "1" } });
  };

  const begin = async (
    turnId: string,
    request: TurnRequest,
    taken: Awaited<ReturnType<typeof takePlace>>,
    signal: AbortSignal,
  ) => {
    const { grant, place, spec } = taken;
    const { agent } = grant;
    const resolving = services.models.resolve(spec);
    resolving.catch(() => {});
    const stored = await historyAtItsTurn(turnId, place, agent.row.historyLimit, signal);
    const turn: TurnInput = prepare({
      turnId,
      conversation: place.conversation,
      agent,
      origin: request.origin,
      model: await resolving,
      history: place.conversation
        ? replay(stored, { toolResults: agent.row.toolResultsInHistoryEnabled })
        : request.input.history,
      fresh: request.input.fresh,
    });
    return run(turn, signal, clock);
  };

  const historyAtItsTurn = async (turnId: string, place: Place, limit: number, signal: AbortSignal) => {
    if (place.kind === "head" || !place.conversation) return place.history;
    await waitForPlace(turnId, place.conversation, signal);
    return readHistory(database, place.conversation.id, limit);
  };

  const finish = async (
    turnId: string,
    place: Place,
    request: TurnRequest,
    scrub: (text: string) => string,
    outcome: TurnOutcome,
  ) => {
    if (outcome.status === "failed") {
      const { code, cause } = outcome.failure;
      log.warn({ turnId, code, requestId: request.requestId, cause: scrub(describeCause(cause)) }, "A turn failed");
    }
    try {
      const { fresh } = request.input;
      const recorded = await record(database, { turnId, owner, fresh, stored: place.conversation !== null, outcome });
      if (!recorded) throw new EngineError("unavailable", "The turn was taken over and could not be recorded");
    } catch (err) {
      log.error({ turnId, requestId: request.requestId, err }, "A turn could not be recorded");
      throw err;
    } finally {
      running.delete(turnId);
      if (place.conversation) line.wake(place.conversation.id);
    }
  };

  /** What every door calls. Throws the refusals that come before a turn; everything later is in the relay. */
  const takeTurn = async (grant: Grant, request: TurnRequest): Promise<Turn> => {
    if (stopping) throw stoppingError();
    const turnId = newId();
    const taken = await takePlace(turnId, grant, request);
    const { scrub } = taken.grant.agent;
    const turn = relay({
      rule: request.rule,
      start: (signal) => begin(turnId, request, taken, signal),
      record: (outcome) => finish(turnId, taken.place, request, scrub, outcome),
    });
    running.set(turnId, turn);
    if (stopping) turn.abort("shutdown");
    return { ...turn, id: turnId };
  };

  /** Renews the leases; a turn whose lease is gone is no longer ours to run. */
  const tick = async () => {
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
    await ended();
  };

  return { takeTurn, tick, stop };
}

function tooManyWait(): EngineError {
  return new EngineError("rate-limited", "Too many turns wait in this conversation", {
    headers: { "Retry-After": "5" },
  });
}

function stoppingError(): EngineError {
  return new EngineError("unavailable", "The server is stopping", { headers: { "Retry-After": "5" } });
}

/** The cause of a failure in words, for the log: with the status and the body of a provider's answer. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause === "string" ? cause : (JSON.stringify(cause) ?? String(cause));
  const answer = "responseBody" in cause && cause.responseBody ? ` ${String(cause.responseBody).slice(0, 2_000)}` : "";
  const status = "statusCode" in cause && cause.statusCode ? ` (status ${cause.statusCode})` : "";
  const inner = cause.cause === undefined ? "" : `; caused by ${describeCause(cause.cause)}`;
  return `${cause.name}: ${cause.message}${status}${answer}${inner}`;
}
