import { eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import type { ToolSource } from "../../../contribution.ts";
import { TtlCache } from "../../../core/cache.ts";
import { EngineError } from "../../../core/errors.ts";
import type { AgentSeen } from "../../../core/ports.ts";
import type { Scrub } from "../../../core/scrub/scrub.ts";
import { agents } from "../../../db/schema.ts";
import { type LiveAgent, loadAgent } from "../agent/load.ts";
import { AgentRefusal, admit, type Caller, type Grant } from "./admit.ts";

/** Thrown inside `Agents.serve` for an outdated copy of the agent: `serve` then repeats the attempt with a fresh copy. */
export class AgentChanged extends Error {}

const attempts = 5;

/** The least time between two checks of the same refusal against a fresh copy. */
const recheckMs = 1_000;

/**
 * The agents for turns, cached for 30 s. Nevertheless changes are in force at once (decisions §5): an `agent-changed`
 * notice of any process drops the copy, `closeRevoked` compares revisions every 2 seconds, OPEN compares them for each
 * turn, and a refusal is checked against a fresh copy.
 */
export class Agents {
  readonly #services: Services;
  readonly #toolSources: () => readonly ToolSource[];
  readonly #cache: TtlCache<LiveAgent>;
  readonly #rechecked: TtlCache<true>;
  /** The organizations of slugs: whose share of the server the loading of an uncached agent takes. */
  readonly #homes: TtlCache<string>;
  /** The agents whose loading began after the last notice. */
  readonly #loading = new Map<string, Promise<LiveAgent | null>>();
  /** The number of change notices. A copy is not cached when a notice arrived during its load. */
  #notices = 0;
  /** The numbers of requests that found their agent in the cache, and that did not. */
  readonly #lookups = { hit: 0, miss: 0 };

  constructor(services: Services, toolSources: () => readonly ToolSource[]) {
    const now = () => services.clock.now();
    this.#services = services;
    this.#toolSources = toolSources;
    this.#cache = new TtlCache({ ttlMs: 30_000, limit: 1_000, now });
    this.#rechecked = new TtlCache({ ttlMs: recheckMs, now });
    this.#homes = new TtlCache({ ttlMs: 60 * 60_000, now });
    services.meters.readings(
      {
        name: "agent_engine_agent_cache_lookups_total",
        type: "counter",
        labels: ["result"],
        help: "Calls that found their agent in the cache of this process (hit), or had it read (miss).",
      },
      () => (["hit", "miss"] as const).map((result) => ({ labels: { result }, value: this.#lookups[result] })),
    );
    services.agentSecrets.loadBy((id) => this.#scrubOf(id));
    services.notify.listen(
      "agent-changed",
      (id) => this.#drop(({ row }) => row.id === id || row.organizationId === id),
      () => this.#drop(() => true),
    );
  }

  /**
   * Serves a request with an agent; `attempt` gets null for an unknown slug. Everything that depends on the agent must
   * be derived inside `attempt`, which runs again with a fresh copy after `AgentChanged`, or after an `AgentRefusal`
   * that an old copy may have caused. Throws the last attempt's error; a 503 when the agent keeps changing, or is not
   * cached in an overload.
   */
  serve<T>(slug: string, attempt: (agent: LiveAgent | null) => Promise<T>): Promise<T> {
    // Requests for unknown agents share the part of one organization.
    const share = [this.#homes.get(slug)?.value ?? "", slug, ""] as const;
    return this.#serve(slug, attempt, (load) => this.#services.admission.during(share, load));
  }

  async #serve<T>(
    slug: string,
    attempt: (agent: LiveAgent | null) => Promise<T>,
    admit: <L>(load: () => Promise<L>) => Promise<L>,
  ): Promise<T> {
    let agent = this.#cache.get(slug)?.value ?? null;
    let loaded = false;
    this.#lookups[agent === null ? "miss" : "hit"] += 1;
    if (agent === null) {
      const loading = this.#loading.get(slug);
      // A load that began before this request may have missed a change.
      loaded = loading === undefined;
      agent = await (loading ?? this.#loadOnce(slug, admit));
    }
    for (let tried = 1; tried <= attempts; tried += 1) {
      try {
        return await attempt(agent);
      } catch (error) {
        const changed = error instanceof AgentChanged;
        if (!changed && (loaded || !this.#mayBeOld(slug, error))) throw error;
        const fresh = await this.#load(slug);
        if (!changed && isSame(fresh, agent)) throw error;
        agent = fresh;
        loaded = true;
      }
    }
    throw new EngineError("unavailable", "The agent is being changed; try again", { retryAfterSeconds: 1 });
  }

  /** Throws `AgentChanged` if a newer revision is stored. For responses without a turn; called inside `serve`. */
  async confirm({ row: { id, revision } }: LiveAgent): Promise<void> {
    const [current] = await this.#services.database.db
      .select({ revision: agents.revision })
      .from(agents)
      .where(eq(agents.id, id));
    if (current?.revision !== revision) throw new AgentChanged();
  }

  /** Admits work without a turn, checked against the current agent. Throws the `AgentRefusal`. */
  admitNow(slug: string, by: Caller): Promise<Grant> {
    const admitted = async (agent: LiveAgent | null) => {
      const grant = admit(agent, slug, by);
      await this.confirm(grant.agent);
      return grant;
    };
    return this.#serve(slug, admitted, (load) => load());
  }

  /** Like `admitNow`, for work that read the agent at `revision`: an older copy is not used. */
  admitSeen({ slug, revision }: AgentSeen, by: Caller): Promise<Grant> {
    return this.serve(slug, async (agent) => {
      const grant = admit(agent, slug, by);
      if (grant.agent.row.revision < revision) throw new AgentChanged();
      return grant;
    });
  }

  /** Reads an agent from the database; null for an unknown one. */
  reload(slug: string): Promise<LiveAgent | null> {
    return this.#load(slug);
  }

  /** The secret scrubber of an agent, even in an overload; null for an unknown agent. */
  async #scrubOf(id: string): Promise<Scrub | null> {
    const { db } = this.#services.database;
    const [found] = await db.select({ slug: agents.slug }).from(agents).where(eq(agents.id, id));
    if (!found) return null;
    return this.#serve(
      found.slug,
      async (agent) => agent?.scrub ?? null,
      (load) => load(),
    );
  }

  /** The ids of the cached agents. */
  cachedIds(): string[] {
    return this.#cache.values().map(({ row }) => row.id);
  }

  /** Drops the cached agents among `ids` whose revision differs from the one in `revisions`. */
  dropChanged(ids: readonly string[], revisions: ReadonlyMap<string, number>): void {
    const asked = new Set(ids);
    this.#drop(({ row }) => asked.has(row.id) && revisions.get(row.id) !== row.revision);
  }

  /** Loads an agent once for all requests at the same time. */
  #loadOnce(
    slug: string,
    admit: (load: () => Promise<LiveAgent | null>) => Promise<LiveAgent | null>,
  ): Promise<LiveAgent | null> {
    const loading = admit(() => this.#load(slug)).finally(() => {
      if (this.#loading.get(slug) === loading) this.#loading.delete(slug);
    });
    this.#loading.set(slug, loading);
    return loading;
  }

  async #load(slug: string): Promise<LiveAgent | null> {
    const notices = this.#notices;
    const agent = await loadAgent(this.#services, slug, this.#toolSources());
    if (agent) this.#homes.set(slug, agent.row.organizationId);
    if (!agent) this.#cache.delete(slug);
    else if (notices === this.#notices) this.#cache.set(slug, agent);
    return agent;
  }

  /** Whether to check a refusal: at most once a second for each agent and message, so that floods stay cheap. */
  #mayBeOld(slug: string, error: unknown): boolean {
    if (!(error instanceof AgentRefusal)) return false;
    const reason = `${slug}: ${error.message}`;
    if (this.#rechecked.get(reason)) return false;
    this.#rechecked.set(reason, true);
    return true;
  }

  #drop(concerned: (agent: LiveAgent) => boolean): void {
    this.#notices += 1;
    this.#loading.clear();
    for (const agent of this.#cache.values()) if (concerned(agent)) this.#cache.delete(agent.row.slug);
  }
}

function isSame(one: LiveAgent | null, other: LiveAgent | null): boolean {
  return one?.row.id === other?.row.id && one?.row.revision === other?.row.revision;
}
