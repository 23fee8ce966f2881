import type { Services } from "../../context.ts";
import { EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { pause } from "../../core/pause.ts";
import type { ModelSpec } from "../../core/ports.ts";
import { type Database, sqlState } from "../../db/client.ts";
import { refusalHeaders } from "../../http/throttle.ts";
import { type DisconnectRule, type Relay, relay } from "../../turn/relay.ts";
import { run } from "../../turn/run.ts";
import type { Origin, Resumed, TurnInput, TurnOutcome } from "../../turn/types.ts";
import { memoryLines, recall } from "../memories/index.ts";
import type { Grant } from "./admit.ts";
import type { LiveAgent } from "./agent.ts";
import { asDecided, refuseWaiting } from "./approvals.ts";
import { describeCause } from "./cause.ts";
import type { ChatInput } from "./input.ts";
import { WaitingLine } from "./line.ts";
import { modelSpec } from "./model.ts";
import { type Opened, type Opening, open, readHistory, type StoredMessage, waitingLimit } from "./open.ts";
import { prepare, replay } from "./prepare.ts";
import { closeLost, promote, renew } from "./queue.ts";
import { type Recording, record, type Suspended } from "./record.ts";

/** How often a waiting turn asks, in case the one before it runs on another replica. */
const pollMs = 250;

/** With the pauses between them, what is tried for less than a lease. */
const recordAttempts = 5;

export interface TurnRequest {
  door: string;
  origin: Origin;
  /** The public conversation id. */
  ref: string;
  input: ChatInput;
  rule: DisconnectRule;
  requestId: string;
  throttle: Opening["throttle"];
  /** What a person decided about the calls at which an earlier turn of the conversation stopped. */
  resumed?: Resumed & { turnId: string; suspended: Suspended };
}

export interface Turn extends Relay {
  id: string;
}

/** Who answered a turn. */
interface Taken {
  agent: LiveAgent;
  spec: ModelSpec;
}

type Place = Extract<Opened, { kind: "head" | "queued" }>;
type StoredPlace = NonNullable<Place["conversation"]>;

export type Turns = ReturnType<typeof createTurns>;

/** The turns of this process: opens them, keeps their leases, lets them wait for each other, and ends them at a stop. */
export function createTurns(
  services: Services,
  { reload, onLearn }: { reload: (grant: Grant) => Promise<Grant>; onLearn: () => void },
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

  const takePlace = async (turnId: string, grant: Grant, request: TurnRequest) => {
    const { input, origin, ref, door, requestId, throttle } = request;
    let current = grant;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const { row, fingerprint } = current.agent;
      const spec = modelSpec(services, current.agent);
      const opened = await openAgain(database, {
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
        continues: request.resumed?.turnId ?? null,
        remembers: row.memoryEnabled,
        conversation:
          input.chatId === null ? null : { id: newId(), ref, channel: origin.channel, channelId: origin.channelId },
        // A second attempt is still the same call.
        throttle: attempt === 1 ? throttle : null,
      });
      if (opened.kind === "head" || opened.kind === "queued") return { grant: current, place: opened, spec };
      if (opened.kind === "changed") current = await reload(current);
      // A crowd of dead turns must not keep the living out.
      else if ((await closeLost(database)) === 0) throw new LineFull();
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
    const resumed = request.resumed ?? null;
    const stored = await historyAtItsTurn(turnId, place, agent.row.historyLimit, signal);
    if (place.conversation && !resumed && (place.kind === "queued" || place.awaiting !== null)) {
      await refuseWaiting(database, place.conversation.id);
    }
    const memories = place.remembered ? await recallFor(agent, request) : "";
    const turn: TurnInput = prepare({
      memories,
      turnId,
      conversation: place.conversation,
      agent,
      policies: services.policies.values,
      now: clock.now(),
      origin: request.origin,
      model: await resolving,
      history: place.conversation
        ? replay(earlier(stored, request), { toolResults: agent.row.toolResultsInHistoryEnabled })
        : request.input.history,
      fresh: resumed?.suspended.fresh ?? request.input.fresh,
      // Decisions may have changed while it waited for its place.
      resumed: resumed && (await asDecided(database, resumed)),
    });
    return run(turn, signal, clock);
  };

  /** One statement more, for those of whom something is remembered. */
  const recallFor = async ({ row }: LiveAgent, { origin, input }: TurnRequest) => {
    const { subject } = origin;
    return memoryLines(await recall(database, { agentId: row.id, subject, text: input.fresh.join("\n") }));
  };

  const historyAtItsTurn = async (turnId: string, place: Place, limit: number, signal: AbortSignal) => {
    if (place.kind === "head" || !place.conversation) return place.history;
    await waitForPlace(turnId, place.conversation, signal);
    return readHistory(database, place.conversation.id, limit);
  };

  /** Tries again while the trouble may pass: the caller has the text already. The lease is renewed meanwhile. */
  const recordPatiently = async (recording: Recording): Promise<boolean> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await record(database, recording);
      } catch (error) {
        if (attempt === recordAttempts || !mayPass(error)) throw error;
        await pause(clock, 250 * 2 ** attempt);
      }
    }
  };

  const finish = async (
    turnId: string,
    place: Place,
    request: TurnRequest,
    { agent, spec }: Taken,
    outcome: TurnOutcome,
  ) => {
    const { scrub } = agent;
    // There is nothing to learn from one that only repeats.
    const learn = agent.row.memoryEnabled && spec.provider !== "demo" && outcome.status === "done";
    const { requestId } = request;
    try {
      if (outcome.status === "failed") {
        const { code, cause } = outcome.failure;
        log.warn({ turnId, code, requestId, cause: describeCause(cause, scrub) }, "A turn failed");
      }
      const { fresh } = request.input;
      const resumed = request.resumed?.suspended ?? null;
      const recording = { turnId, owner, fresh, stored: place.conversation !== null, learn, resumed, outcome };
      if (!(await recordPatiently(recording)))
        throw new EngineError("unavailable", "The turn was taken over and could not be recorded");
      if (learn) onLearn();
    } catch (err) {
      log.error({ turnId, requestId, err }, "A turn could not be recorded");
      throw err;
    } finally {
      running.delete(turnId);
      if (place.conversation) line.wake(place.conversation.id);
    }
  };

  const startTurn = async (grant: Grant, request: TurnRequest): Promise<Turn> => {
    if (stopping) throw stoppingError();
    const turnId = newId();
    const taken = await takePlace(turnId, grant, request);
    const turn = relay({
      rule: request.rule,
      start: (signal) => begin(turnId, request, taken, signal),
      record: (outcome) =>
        finish(turnId, taken.place, request, { agent: taken.grant.agent, spec: taken.spec }, outcome),
    });
    running.set(turnId, turn);
    if (stopping) turn.abort("shutdown");
    return { ...turn, id: turnId };
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

/** The 429 of a full line; natively it is an event, since it comes after everything else that can be refused. */
export class LineFull extends EngineError {
  constructor() {
    super("rate-limited", "Too many turns wait in this conversation", {
      headers: refusalHeaders({ limit: waitingLimit, remaining: 0, resetSeconds: 5 }),
    });
  }
}

/** The transcript before the turn; a turn that goes on brings its own part along. */
function earlier(stored: readonly StoredMessage[], { resumed }: TurnRequest): StoredMessage[] {
  const own = new Set(resumed?.suspended.turnIds);
  return stored.filter(({ turnId }) => turnId === null || !own.has(turnId));
}

/** OPEN again after a deadlock; an agent that is deleted meanwhile has changed. */
async function openAgain(database: Database, opening: Opening): Promise<Opened> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(database, opening);
    } catch (error) {
      const state = sqlState(error);
      if (state === "23503") return { kind: "changed" };
      if (state !== "40P01" || attempt === 3) throw error;
    }
  }
}

/** A database that is away, or a deadlock: the same statement may go well a moment later. */
function mayPass(error: unknown): boolean {
  return (error instanceof EngineError && error.code === "unavailable") || sqlState(error) === "40P01";
}

function stoppingError(): EngineError {
  return new EngineError("unavailable", "The server is stopping", { headers: { "Retry-After": "5" } });
}
