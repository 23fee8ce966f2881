import { eq } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import type { ToolSource } from "../../../contribution.ts";
import { TtlCache } from "../../../core/cache.ts";
import { EngineError } from "../../../core/errors.ts";
import { agents } from "../../../db/schema.ts";
import { type LiveAgent, loadAgent } from "../agent/load.ts";
import { AgentRefusal } from "./admit.ts";

/** Thrown inside `Agents.serve` when the agent is not as the attempt has it: what was derived from it is derived anew. */
export class AgentChanged extends Error {}

const attempts = 5;

/** How often one refusal of an agent is checked against a fresh copy. */
const recheckMs = 1_000;

/**
 * The agents that turns are taken with, cached for 30 s. A cached copy never delays a change: a write of this process
 * drops it, other processes say so or are asked every 2 seconds (`refresh`), OPEN compares revisions, and a refusal is
 * checked against a fresh copy (decisions §5, "A change is in force at once").
 */
export class Agents {
  readonly #services: Services;
  readonly #toolSources: () => readonly ToolSource[];
  readonly #cache: TtlCache<LiveAgent>;
  readonly #rechecked: TtlCache<true>;
  /** How many notices of changes came: a copy whose loading one overlaps is not cached. */
  #notices = 0;

  constructor(services: Services, toolSources: () => readonly ToolSource[]) {
    const now = () => services.clock.now();
    this.#services = services;
    this.#toolSources = toolSources;
    this.#cache = new TtlCache({ ttlMs: 30_000, limit: 1_000, now });
    this.#rechecked = new TtlCache({ ttlMs: recheckMs, now });
    services.notify.listen(
      "agent-changed",
      (id) => this.#drop(({ row }) => row.id === id || row.organizationId === id),
      () => this.#drop(() => true),
    );
  }

  /**
   * Does with an agent what a call is about; `attempt` gets null when there is none of the slug. All that depends on
   * the agent is derived inside `attempt`, which is made again with a fresh copy when it throws `AgentChanged`, or an
   * `AgentRefusal` that only an old copy gives. Throws what the last attempt threw; 503 when the agent keeps changing.
   */
  async serve<T>(slug: string, attempt: (agent: LiveAgent | null) => Promise<T>): Promise<T> {
    let agent = this.#cache.get(slug)?.value ?? null;
    let loaded = agent === null;
    if (loaded) agent = await this.#load(slug);
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
    throw new EngineError("unavailable", "The agent is being changed; try again", { headers: { "Retry-After": "1" } });
  }

  /** For what is answered without OPEN, inside `serve`: throws `AgentChanged` unless the agent is as this copy has it. */
  async confirm({ row: { id, revision } }: LiveAgent): Promise<void> {
    const [current] = await this.#services.database.db
      .select({ revision: agents.revision })
      .from(agents)
      .where(eq(agents.id, id));
    if (current?.revision !== revision) throw new AgentChanged();
  }

  /** Reads an agent anew; null when there is none. */
  reload(slug: string): Promise<LiveAgent | null> {
    return this.#load(slug);
  }

  /** The ids of the cached agents. */
  cachedIds(): string[] {
    return this.#cache.values().map(({ row }) => row.id);
  }

  /** Drops the cached agents that are among `ids` and not of the revision that `revisions` has by their ids. */
  dropChanged(ids: readonly string[], revisions: ReadonlyMap<string, number>): void {
    const asked = new Set(ids);
    this.#drop(({ row }) => asked.has(row.id) && revisions.get(row.id) !== row.revision);
  }

  async #load(slug: string): Promise<LiveAgent | null> {
    const notices = this.#notices;
    const agent = await loadAgent(this.#services, slug, this.#toolSources());
    if (!agent) this.#cache.delete(slug);
    else if (notices === this.#notices) this.#cache.set(slug, agent);
    return agent;
  }

  /** Whether a refusal is to be checked: one of each kind and agent a second, so that floods of refused calls stay cheap. */
  #mayBeOld(slug: string, error: unknown): boolean {
    if (!(error instanceof AgentRefusal)) return false;
    const reason = `${slug}: ${error.message}`;
    if (this.#rechecked.get(reason)) return false;
    this.#rechecked.set(reason, true);
    return true;
  }

  #drop(concerned: (agent: LiveAgent) => boolean): void {
    this.#notices += 1;
    for (const agent of this.#cache.values()) if (concerned(agent)) this.#cache.delete(agent.row.slug);
  }
}

function isSame(one: LiveAgent | null, other: LiveAgent | null): boolean {
  return one?.row.id === other?.row.id && one?.row.revision === other?.row.revision;
}
