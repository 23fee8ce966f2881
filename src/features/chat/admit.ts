import { type Ctx, currentMembership, requirePermission, type Services, workspaceScope } from "../../context.ts";
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
 * Somebody with the `Authorization` header of a request, and with the origin of a page that is not ours; or the engine
 * itself, in the playground too, or another agent, which need no key and no open channel.
 */
type Caller =
  | { authorization: string | undefined; origin: string | null }
  | "engine"
  | "playground"
  | { asker: Asker; slug: string }
  | { session: Ctx };

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
    admit: (slug: string, authorization: string | undefined, origin: string | null) =>
      admit(slug, { authorization, origin }),
    /** For the engine's own turns, while the agent is active. Throws the 404. */
    admitEngine: (slug: string) => admit(slug, "engine"),
    /** For a turn that goes on after a decision: in the playground whatever the agent's switches say. Throws the 404. */
    admitContinuation: (slug: string, channel: string) =>
      admit(slug, channel === "playground" ? "playground" : "engine"),
    /** For another agent that asks it. Throws the 404 of one that it can't ask. */
    admitAsker: (slug: string, asker: Asker) => admit(slug, { asker, slug }),
    /** For a signed-in person who reaches the agent, whatever its switches say. Throws the 404. */
    admitSession: (slug: string, session: Ctx) => admit(slug, { session }),
    /**
     * The same once more, with the rights that the person has by now. Throws what the door would answer now; takes the
     * agent for current.
     */
    async readmitSession(agent: LiveAgent, session: Ctx): Promise<Grant> {
      const membership = await currentMembership(services.database.db, session);
      requirePermission(membership, "agent.playground:use");
      return grant(agent, { session: { ...session, membership } });
    },
    /** Anybody once more. */
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
    /** Whether an agent that can be talked to names an origin: a hidden one must look like a missing one. */
    async allowsOrigin(slug: string, origin: string): Promise<boolean> {
      const agent = cache.get(slug)?.value ?? (await reload(slug));
      return agent?.row.active === true && agent.web.enabled && isAllowed(agent, origin);
    },
  };
}

function refuse(agent: LiveAgent | null, by: Caller): EngineError | null {
  if (by === "playground") return agent ? null : notFound("Agent");
  if (by !== "engine" && "asker" in by) return refuseAsker(agent, by);
  if (by !== "engine" && "session" in by) return refuseSession(agent, by.session);
  if (!agent?.row.active) return new EngineError("not-found", "Unknown model");
  if (by === "engine") return null;
  if (!agent.web.enabled) return new EngineError("not-found", "Unknown model");
  // Where nobody asks for a key, any page that somebody opens could talk to the agents of the network that he is in.
  if (!agent.row.authEnabled) return by.origin === null || isAllowed(agent, by.origin) ? null : foreignOrigin();
  const key = agent.secrets.get("auth_api_key");
  if (!key) return new EngineError("unauthorized", "Auth enabled but no API key configured");
  const presented = bearer(by.authorization);
  if (presented === null) return new EngineError("unauthorized", "Missing Bearer token");
  return sameText(presented, key) ? null : new EngineError("unauthorized", "Invalid API key");
}

function isAllowed({ web: { allowedOrigins } }: LiveAgent, origin: string): boolean {
  return allowedOrigins.includes(origin) || allowedOrigins.includes("*");
}

function foreignOrigin(): EngineError {
  return new EngineError(
    "forbidden",
    "This origin is not allowed: add it to the agent's allowedOrigins or, if it is this server's own, set publicAddress",
  );
}

/** Whoever is signed in talks to the agents within reach. */
function refuseSession(agent: LiveAgent | null, { membership }: Ctx): EngineError | null {
  const scope = workspaceScope(membership);
  const own = agent?.row.organizationId === membership.organizationId;
  return own && (scope === null || scope.includes(agent.row.workspaceId)) ? null : notFound("Agent");
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
