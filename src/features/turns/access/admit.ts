import type { Ctx } from "../../../context/ctx.ts";
import { EngineError, type ErrorCode } from "../../../core/errors.ts";
import { sameText } from "../../../core/ids.ts";
import type { LiveAgent } from "../agent/load.ts";

/** A caller's permission to use this copy of an agent. Valid only inside `Agents.serve`. */
export interface Grant {
  agent: LiveAgent;
  by: Caller;
}

/** An agent that calls another agent of its workspace. */
export interface Asker {
  id: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
}

/**
 * The `Authorization` header of a client's request, and the origin of its page: null for no page or one of this server.
 */
export interface Client {
  authorization: string | undefined;
  origin: string | null;
}

/**
 * A client; a signed-in person; another agent; or the engine itself, for background work and continued turns.
 */
export type Caller =
  | ({ type: "client" } & Client)
  | { type: "session"; ctx: Ctx }
  | { type: "agent"; asker: Asker }
  | { type: "engine"; whileInactive: boolean };

/** A refusal by the agent's configuration. It may come from an outdated cached copy alone, so `serve` checks it again. */
export class AgentRefusal extends EngineError {}

/** The refusal of a client with a wrong key. Wrong keys are counted, since they may be guesses. */
export class WrongKey extends AgentRefusal {
  /** Null at an endpoint where the key alone identifies the agent. */
  readonly agentId: string | null;

  constructor(code: ErrorCode, message: string, agentId: string | null) {
    super(code, message);
    this.agentId = agentId;
  }
}

/**
 * Admits a caller (spec "Authentication" 6), in the order of decisions §5: reachable, then authenticated. Throws an
 * `AgentRefusal`.
 */
export function admit(agent: LiveAgent | null, slug: string, by: Caller): Grant {
  const refusal = refuse(agent, slug, by);
  if (refusal || !agent) throw refusal;
  return { agent, by };
}

function refuse(agent: LiveAgent | null, slug: string, by: Caller): AgentRefusal | null {
  switch (by.type) {
    case "client":
      return refuseClient(agent, by);
    case "session":
      return refuseSession(agent, by.ctx);
    case "agent":
      return refuseAsker(agent, slug, by.asker);
    case "engine":
      return agent && (by.whileInactive || agent.row.active) ? null : unknownModel();
  }
}

const refusal = (code: ErrorCode, message: string) => new AgentRefusal(code, message);
const unknownModel = () => refusal("not-found", "Unknown model");

function refuseClient(agent: LiveAgent | null, client: Client): AgentRefusal | null {
  if (!agent?.row.active || !agent.web.enabled) return unknownModel();
  if (!needsKey(agent, client)) return null;
  if (agent.row.authEnabled) {
    return refuseKey(agent, client.authorization, "Auth enabled but no API key configured");
  }
  const presented = presentedKey(agent, client.authorization);
  return presented === "right" ? null : foreignOrigin(agent, presented);
}

/**
 * Whether the agent admits this client only with its key. Without a key, any page that a person opens could reach
 * agents in that person's network.
 */
export function needsKey(agent: LiveAgent, { origin }: Client): boolean {
  return agent.row.authEnabled || !(origin === null || allowsOrigin(agent, origin));
}

type PresentedKey = "right" | "wrong" | "none" | "unconfigured";

/** Compares the request's key with the stored one in constant time. */
export function presentedKey({ secrets }: LiveAgent, authorization: string | undefined): PresentedKey {
  const key = secrets.get("auth_api_key");
  if (!key) return "unconfigured";
  const presented = bearer(authorization);
  if (presented === null) return "none";
  return sameText(presented, key) ? "right" : "wrong";
}

/** The refusal of a client without the agent's key; `unconfigured` is the message when no key is stored. */
export function refuseKey(
  agent: LiveAgent,
  authorization: string | undefined,
  unconfigured: string,
): AgentRefusal | null {
  switch (presentedKey(agent, authorization)) {
    case "right":
      return null;
    case "wrong":
      return invalidKey(agent.row.id);
    case "none":
      return refusal("unauthorized", "Missing Bearer token");
    case "unconfigured":
      return refusal("unauthorized", unconfigured);
  }
}

export const invalidKey = (agentId: string | null) => new WrongKey("unauthorized", "Invalid API key", agentId);

/** Whether pages of an origin may read the agent's responses; false for an inactive or missing agent. */
export function allowsOrigin(agent: Reached | null, origin: string): boolean {
  if (!agent?.row.active || !agent.web.enabled) return false;
  const { allowedOrigins } = agent.web;
  return allowedOrigins.includes(origin) || allowedOrigins.includes("*");
}

/** The settings that decide whether an agent's Web channel answers, and for whom. */
export interface Reached {
  row: Pick<LiveAgent["row"], "active">;
  web: Pick<LiveAgent["web"], "enabled" | "allowedOrigins">;
}

function foreignOrigin({ row }: LiveAgent, presented: PresentedKey): AgentRefusal {
  const message =
    "This origin is not allowed: add it to the agent's allowedOrigins or, if it is this server's own, set publicAddress";
  return presented === "wrong" ? new WrongKey("forbidden", message, row.id) : refusal("forbidden", message);
}

/** The refusal of a signed-in person; null for a reachable agent, even while the agent or its Web channel is off. */
function refuseSession(agent: LiveAgent | null, { membership }: Ctx): AgentRefusal | null {
  const scope = membership.workspaceIds;
  const own = agent?.row.organizationId === membership.organizationId;
  const reached = own && (scope === null || scope.includes(agent.row.workspaceId));
  return reached ? null : refusal("not-found", "Agent not found");
}

/**
 * The refusal of a calling agent. It may call the other active agents of its workspace (decisions §7) whose channel
 * `agent` is on.
 */
function refuseAsker(agent: LiveAgent | null, slug: string, asker: Asker): AgentRefusal | null {
  const { id, organizationId, workspaceId } = asker;
  const near = agent?.row.organizationId === organizationId && agent.row.workspaceId === workspaceId;
  if (!agent || !near) return refusal("not-found", `There is no agent ${slug} to ask any more`);
  if (agent.row.id === id) return refusal("not-found", "An agent can't ask itself");
  if (!agent.row.active) return refusal("not-found", `The agent ${slug} is switched off`);
  return agent.answersAgents ? null : refusal("not-found", `The agent ${slug} does not answer other agents`);
}

/** The token of `Authorization: Bearer <token>`, or null. */
export function bearer(authorization: string | undefined): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? "");
  return match?.[1] ?? null;
}
