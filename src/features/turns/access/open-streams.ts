import type { Ctx, Services } from "../../../context/ctx.ts";
import { requirePermission } from "../../../context/membership.ts";
import { membershipNow } from "../../../context/standing.ts";
import { EngineError } from "../../../core/errors.ts";
import { Tally } from "../../../core/limits/tally.ts";
import { admit, type Grant } from "./admit.ts";
import type { Agents } from "./agents.ts";
import { refusalOf, type WatchedStream } from "./reading.ts";
import { type AccessState, readState } from "./state.ts";

/** The most open replies to one client in this process. */
export const streamLimit = 256;

type Revoke = (refusal: EngineError) => void;

/** An open reply to a client. */
export interface Seat {
  /** Sets the function that is called once the client may no longer use the agent. */
  onRevoked(revoke: Revoke): void;
  leave(): void;
}

interface Guest {
  grant: Grant;
  revoke: Revoke;
}

/**
 * The replies and streams whose caller may lose access: chat replies until they are complete, and streams of activity.
 */
export class OpenStreams {
  readonly #counts = new Tally();
  readonly #guests = new Set<Guest>();
  readonly #readings = new Set<WatchedStream>();
  readonly #services: Services;
  readonly #agents: Agents;

  constructor(services: Services, agents: Agents) {
    this.#services = services;
    this.#agents = agents;
    services.meters.readings(
      {
        name: "agent_engine_open_replies",
        type: "gauge",
        help: "Replies of the chat doors that this process has under way: streams until their ends, others until they are whole.",
      },
      () => [{ value: this.#guests.size }],
    );
  }

  /** Takes a permit for a reply to `client`. Throws the 429 when `streamLimit` permits are taken. */
  enter(client: string, grant: Grant): Seat {
    if (this.#counts.of(client) >= streamLimit) throw tooMany();
    this.#counts.add(client, 1);
    const guest: Guest = { grant, revoke: () => {} };
    this.#guests.add(guest);
    return {
      onRevoked: (revoke) => {
        guest.revoke = revoke;
      },
      leave: () => {
        if (this.#guests.delete(guest)) this.#counts.add(client, -1);
      },
    };
  }

  /** Watches the right to read a stream until the returned function is called. */
  watch(reading: WatchedStream): () => void {
    this.#readings.add(reading);
    return () => void this.#readings.delete(reading);
  }

  /**
   * Drops cached agents that another process changed, and ends the streams of callers that lost their access, for
   * example by a replaced key, a disabled channel, or a lost session or permission. Sends one query for all streams;
   * none without streams and cached agents. Call it every 2 seconds.
   */
  async closeRevoked(): Promise<void> {
    const guests = [...this.#guests];
    const readings = [...this.#readings];
    const cached = this.#agents.cachedIds();
    if (guests.length + readings.length + cached.length === 0) return;
    const inChat = guests.flatMap(({ grant: { by } }) => (by.type === "session" ? [by.ctx] : []));
    const state = await readState(this.#services, {
      agentIds: distinct([
        ...guests.map(({ grant }) => grant.agent.row.id),
        ...readings.map(({ agentId }) => agentId),
        ...cached,
      ]),
      conversationIds: distinct(readings.map(({ conversationId }) => conversationId)),
      calls: [...inChat, ...readings.map(({ ctx }) => ctx)],
    });
    this.#agents.dropChanged(cached, state.revisions);
    for (const reading of readings) {
      const refusal = refusalOf(reading, state);
      if (refusal && this.#readings.delete(reading)) reading.revoke(refusal);
    }
    const isCurrent = ({ grant: { agent } }: Guest) => agent.row.revision === state.revisions.get(agent.row.id);
    for (const guest of guests.filter(isCurrent)) this.#check(guest, guest.grant.agent, state);
    const changed = Map.groupBy(
      guests.filter((guest) => !isCurrent(guest)),
      ({ grant }) => grant.agent.row.slug,
    );
    for (const [slug, ofAgent] of changed) await this.#checkChanged(slug, ofAgent, state);
  }

  /** Checks the callers of a changed agent. A failed load ends their streams, except a 503. Never rejects. */
  async #checkChanged(slug: string, guests: readonly Guest[], state: AccessState): Promise<void> {
    try {
      const agent = await this.#agents.reload(slug);
      for (const guest of guests) this.#check(guest, agent, state);
    } catch (err) {
      this.#services.log.error({ agent: slug, err }, "An agent with open streams could not be loaded");
      const passing = err instanceof EngineError && err.code === "unavailable";
      if (!passing) for (const guest of guests) guest.revoke(new EngineError("internal", "Internal server error"));
    }
  }

  /** Admits a caller again, with the current rights of a signed-in person. */
  #check(guest: Guest, agent: Grant["agent"] | null, state: AccessState): void {
    const {
      by,
      agent: { row },
    } = guest.grant;
    try {
      guest.grant = admit(agent, row.slug, by.type === "session" ? { ...by, ctx: asOfNow(by.ctx, state) } : by);
    } catch (refusal) {
      if (!(refusal instanceof EngineError)) throw refusal;
      guest.revoke(refusal);
    }
  }
}

const distinct = (ids: readonly (string | null)[]) => [...new Set(ids.filter((id) => id !== null))];

/** The context with the session's current rights. Throws the 401, 404 or 403 that a new request would get. */
function asOfNow(ctx: Ctx, state: AccessState): Ctx {
  const membership = membershipNow(ctx, state.standingOf(ctx));
  requirePermission(membership, "agent.playground:use");
  return { ...ctx, membership };
}

function tooMany(): EngineError {
  const limit = { limit: streamLimit, remaining: 0, resetSeconds: 5 };
  return new EngineError("rate-limited", "Too many open streams", { limit });
}
