import type { Ctx, Services } from "../../context.ts";
import { TtlCache } from "../../core/cache.ts";
import { EngineError, notFound } from "../../core/errors.ts";
import { sameText } from "../../core/ids.ts";
import { type LiveAgent, loadAgent } from "./agent.ts";
import type { Ask, Asker } from "./ask-tools.ts";

/** Leave to talk to an agent, as it was at this revision. */
export interface Grant {
  agent: LiveAgent;
  /** What the caller presented, for when the agent has to be asked again. */
  by: Caller;
}

/**
 * Somebody with the `Authorization` header of a request; or the engine itself or another agent, which need no key and no
 * open channel.
 */
type Caller = { authorization: string | undefined } | "engine" | { asker: Asker; slug: string } | { session: Ctx };

/** Below this age a cached agent is believed when it refuses a key. */
const believableMs = 1_000;

export type Agents = ReturnType<typeof createAgents>;

/**
 * The agents that chat doors talk to, cached for 30 s. The cache never delays a revocation: OPEN compares revisions,
 * and a refusal is checked against a fresh copy.
 */
export function createAgents(services: Services, ask: Ask) {
  const { clock } = services;
  const cache = new TtlCache<LiveAgent>({ ttlMs: 30_000, limit: 1_000, now: () => clock.now() });

  const reload = async (slug: string) => {
    const agent = await loadAgent(services, slug, ask);
    if (agent) cache.set(slug, agent);
    else cache.delete(slug);
    return agent;
  };

  const grant = (agent: LiveAgent | null, by: Caller): Grant => {
    const refusal = refuse(agent, by);
    if (refusal || !agent) throw refusal;
    return { agent, by };
  };

  const admit = async (slug: string, by: Caller): Promise<Grant> => {
    const cached = cache.get(slug);
    if (!cached) return grant(await reload(slug), by);
    const believed = clock.now() - cached.loadedAt <= believableMs;
    return believed || !refuse(cached.value, by) ? grant(cached.value, by) : grant(await reload(slug), by);
  };

  return {
    /** Spec "Authentication" 6, in the order of decisions §5: known and reachable, then authenticated. */
    admit: (slug: string, authorization: string | undefined) => admit(slug, { authorization }),
    /** For the engine's own turns, while the agent is active. Throws the 404. */
    admitEngine: (slug: string) => admit(slug, "engine"),
    /** For another agent that asks it. Throws the 404 of one that it can't ask. */
    admitAsker: (slug: string, asker: Asker) => admit(slug, { asker, slug }),
    /** For a signed-in person who reaches the agent, whatever its switches say. Throws the 404. */
    admitSession: (slug: string, session: Ctx) => admit(slug, { session }),
    /** The same once more. */
    admitAgain: ({ agent, by }: Grant) => admit(agent.row.slug, by),
    /** The same for an agent that changed since it was granted. */
    readmit: async ({ agent, by }: Grant) => grant(await reload(agent.row.slug), by),
    /** The grant of an agent that is known to be as it was a second ago, before it is refused something. */
    async believable(known: Grant): Promise<Grant> {
      const cached = cache.get(known.agent.row.slug);
      const current = cached?.value === known.agent && clock.now() - cached.loadedAt <= believableMs;
      return current ? known : grant(await reload(known.agent.row.slug), known.by);
    },
    reload,
    /** Of an agent that can be talked to: a hidden one must look like a missing one. */
    async allowedOrigins(slug: string): Promise<readonly string[]> {
      const agent = cache.get(slug)?.value ?? (await reload(slug));
      return agent?.row.active && agent.web.enabled ? agent.web.allowedOrigins : [];
    },
  };
}

function refuse(agent: LiveAgent | null, by: Caller): EngineError | null {
  if (by !== "engine" && "asker" in by) return refuseAsker(agent, by);
  if (by !== "engine" && "session" in by) return agent ? null : notFound("Agent");
  if (!agent?.row.active) return new EngineError("not-found", "Unknown model");
  if (by === "engine") return null;
  if (!agent.web.enabled) return new EngineError("not-found", "Unknown model");
  if (!agent.row.authEnabled) return null;
  const key = agent.secrets.get("auth_api_key");
  if (!key) return new EngineError("unauthorized", "Auth enabled but no API key configured");
  const presented = bearer(by.authorization);
  if (presented === null) return new EngineError("unauthorized", "Missing Bearer token");
  return sameText(presented, key) ? null : new EngineError("unauthorized", "Invalid API key");
}

/** Agents ask the other active ones of their workspace (decisions §7). */
function refuseAsker(agent: LiveAgent | null, { asker, slug }: { asker: Asker; slug: string }): EngineError | null {
  const { id, organizationId, workspaceId } = asker;
  const near = agent?.row.organizationId === organizationId && agent.row.workspaceId === workspaceId;
  if (!agent || !near) return new EngineError("not-found", `There is no agent ${slug} to ask any more`);
  if (agent.row.id === id) return new EngineError("not-found", "An agent can't ask itself");
  return agent.row.active ? null : new EngineError("not-found", `The agent ${slug} is switched off`);
}

/** The token of `Authorization: Bearer <token>`, or null. */
export function bearer(authorization: string | undefined): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? "");
  return match?.[1] ?? null;
}
