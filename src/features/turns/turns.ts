import type { Services } from "../../context/ctx.ts";
import { asEngineError, EngineError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Scrub } from "../../core/scrub/scrub.ts";
import type { Heartbeat } from "../../jobs/heartbeat.ts";
import { isBuffered } from "../../turn/hooks.ts";
import { Audience, type StartedTurn, type TurnListener, type TurnObserver } from "../../turn/observers.ts";
import { type Relay, relay } from "../../turn/relay.ts";
import { run } from "../../turn/run.ts";
import type { Grant } from "./access/admit.ts";
import { actingAs, type LiveAgent } from "./agent/load.ts";
import { firstModel } from "./agent/model.ts";
import { fallbackOf } from "./agent/turn-models.ts";
import { type Begun, begin } from "./begin.ts";
import { DebugNotes } from "./debug/notes.ts";
import { finish } from "./end/finish.ts";
import { Arrivals } from "./place/arrivals.ts";
import { findRepeat } from "./place/idempotency.ts";
import { Leases } from "./place/leases.ts";
import { filesOf, Pictures } from "./place/pictures.ts";
import { type Taken, takePlace, withCurrentModels } from "./place/take.ts";
import { WaitingTurns } from "./place/waiting.ts";
import { hooksAt } from "./prepare.ts";
import type { Idempotency, TurnRequest } from "./request.ts";

export interface Turn extends Relay {
  readonly id: string;
}

export interface TurnsOptions {
  observers: () => readonly TurnObserver[];
  /** Called when a turn enqueued background work that is due at `at`, in milliseconds since the epoch. */
  onWork: (at: number) => void;
  heartbeat: Heartbeat;
}

interface RunningOptions extends TurnsOptions {
  /** Reads an agent from the database; null for an unknown one. */
  reload: (slug: string) => Promise<LiveAgent | null>;
}

export type RunningTurns = ReturnType<typeof createRunningTurns>;

/** Runs the turns of this process: opens them, renews their leases, queues them, and ends them at a stop. */
export function createRunningTurns(services: Services, { observers, onWork, heartbeat, reload }: RunningOptions) {
  const { database, clock, log, notify } = services;
  const leases = new Leases(services, heartbeat);
  const arrivals = new Arrivals(services.admission);
  const running = new Map<string, Relay>();
  const waitingTurns = new WaitingTurns(services, leases);
  const pictures = new Pictures(services);
  /** Turns that run OPEN: they are not in `running` yet, but `stop` waits for them too. */
  const opening = new Set<Promise<Turn>>();
  let stopping = false;
  /** Whether a stop has given up waiting for the last turns. */
  let gaveUp = false;

  notify.listen("turn-stopped", (id) => running.get(id)?.abort("stop"));
  heartbeat.add(() => renewLeases());
  heartbeat.add(() => leases.closeOrphans());

  const startTurn = async (grant: Grant, request: TurnRequest, listener?: TurnListener): Promise<Turn> => {
    if (stopping) throw stoppingError();
    const turnId = newId();
    const release = leases.hold(turnId);
    let taken = await takePlace(services, { turnId, leases, grant, request }).catch((error: unknown) => {
      release();
      if (asEngineError(error).code === "unavailable") closeOrphan(turnId);
      throw error;
    });
    const { place } = taken;
    const { conversation, transcript } = place;
    const buffered = isBuffered(hooksAt(grant.agent, request.origin));
    const audience = new Audience(log);
    // Turns that wait get another scrubber with the keys that answer them.
    const scrub = place.kind === "queued" ? currentScrub(() => taken.grant.agent.scrub) : grant.agent.scrub;
    const notes = conversation && grant.agent.row.debugEnabled ? new DebugNotes(clock, scrub) : null;
    let begun: Begun | null = null;
    let waits = place.kind === "queued";
    const turn = relay({
      // A running buffered turn is finished even without listeners (spec "Buffered turn").
      get rule() {
        return buffered && !waits ? "always-finish" : request.rule;
      },
      run: async (signal, tell) => {
        if (waits && conversation) {
          const revision = await waitingTurns.wait(turnId, conversation, signal);
          taken = await withCurrentModels(services, { taken, request, revision, reload });
        }
        waits = false;
        const files = filesOf(conversation, request);
        return pictures.during(grant.agent.row.organizationId, files, signal, async () => {
          begun = await begin(services, { turnId, request, taken, transcript, files });
          notes?.begin(begun);
          return run(begun.input, signal, clock, tell);
        });
      },
      tell: (event) => {
        if (event.type === "model-fallback") services.fallbacks.tell(fallbackOf(event, grant.agent, request.requestId));
        audience.event(event);
      },
      record: async (outcome) => {
        let others = true;
        try {
          const ended = { turnId, owner: leases.owner, request, taken, begun, notes, outcome, mayWait: () => !gaveUp };
          const finished = await services.admission.always(() => finish(services, ended));
          others = finished.othersWait;
          if (finished.workAt !== null) onWork(finished.workAt);
          const { outcome: recorded, replyKept, stored } = finished;
          audience.ended({ outcome: recorded, replyKept, stored });
          return recorded;
        } catch (error) {
          audience.ended({ unrecorded: asEngineError(error) });
          throw error;
        } finally {
          running.delete(turnId);
          release();
          if (others && conversation) notify.publish("conversation-freed", conversation.id);
        }
      },
    });
    running.set(turnId, turn);
    audience.start(observers(), { ...turn, ...describe(turnId, taken, request), scrub }, notes, listener);
    if (stopping) turn.abort("shutdown");
    return { ...turn, id: turnId };
  };

  /**
   * Takes a turn with the agent of a grant, inside `Agents.serve`. `listener` observes this turn only. Throws
   * `AgentChanged` and the refusals before the turn; later failures are in the outcome.
   */
  const takeTurn = (grant: Grant, request: TurnRequest, listener?: TurnListener): Promise<Turn> => {
    const starting = startTurn(grant, request, listener);
    opening.add(starting);
    return starting.finally(() => opening.delete(starting));
  };

  /** Closes a turn whose opening failed for want of the database, in case that it was opened. */
  const closeOrphan = (turnId: string) => {
    leases.orphan(turnId);
    // Each renewal of the leases tries it again.
    leases.closeOrphans().catch(() => {});
  };

  /** Renews the leases. Aborts a turn whose lease was lost, since another process may have closed it. */
  const renewLeases = async () => {
    // Other turns begin and end during the statement, so only those in `asked` can have lost their lease.
    const asked = [...running];
    const held = await leases.renew(asked.map(([id]) => id));
    for (const [id, turn] of asked) {
      const lease = held.get(id);
      if (!lease) turn.abort("lease-lost");
      else if (lease.stopRequested) turn.abort("stop");
    }
  };

  /** Closes the turns of dead processes, which frees their conversations. */
  const closeDead = async () => {
    const lost = await leases.closeLost();
    if (lost > 0) log.warn({ lost }, "Closed turns whose leases ran out: their processes are gone or out of touch");
  };

  /** Closes the turns of earlier processes; their leases ended when the engine started. */
  const boot = async () => {
    if (!services.options.soleProcess) return;
    const lost = await leases.closeLost();
    if (lost > 0) log.warn({ lost }, "Closed turns of the process before this one, which ended without a stop");
  };

  const stop = async (graceMs: number) => {
    stopping = true;
    const ended = () => Promise.allSettled([...running.values()].map((turn) => turn.ended));
    const grace = Promise.withResolvers<void>();
    const cancel = clock.after(graceMs, grace.resolve);
    await Promise.race([ended(), graceMs === 0 ? undefined : grace.promise]);
    cancel();
    gaveUp = true;
    for (const turn of running.values()) turn.abort("shutdown");
    await Promise.allSettled([...opening]);
    await ended();
  };

  return {
    takeTurn,
    /** Whether no turn runs or starts. */
    isQuiet: () => running.size + opening.size === 0,
    /** Queues a request, in the order of arrival, that will find or take a turn of a conversation. */
    arrive: (signal: AbortSignal) => arrivals.arrive(signal),
    /** Finds the stored reply to an earlier request with the same `Idempotency-Key`. */
    findRepeat: (asked: Parameters<typeof findRepeat>[1], idempotency: Idempotency) =>
      findRepeat({ database, leases }, asked, idempotency),
    closeDead,
    boot,
    stop,
  };
}

const currentScrub = (current: () => Scrub): Scrub =>
  Object.assign((text: string) => current()(text), { stream: () => current().stream() });

/** Describes a turn for observers, without its functions. */
function describe(
  id: string,
  { grant, answering, place }: Taken,
  request: TurnRequest,
): Omit<StartedTurn, "leave" | "abort" | "scrub"> {
  const { agent } = grant;
  const { door, origin, stored, requestId, continued, input, askedBy = null } = request;
  return {
    id,
    door,
    origin,
    stored,
    requestId,
    tracing: agent.tracing,
    askedBy,
    agent: actingAs(agent),
    conversationRef: request.ref,
    begins: place.conversation ? place.conversation.ticket === 1 : input.history.length === 0,
    continues: continued?.turnId ?? null,
    fresh: continued?.suspended.fresh ?? input.fresh,
    model: firstModel(answering),
  };
}

function stoppingError(): EngineError {
  return new EngineError("unavailable", "The server is stopping", { retryAfterSeconds: 5 });
}
