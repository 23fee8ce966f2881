import { type Ctx, workspaceScope } from "../../../context.ts";
import { EngineError, type ErrorCode } from "../../../core/errors.ts";
import { sameText } from "../../../core/ids.ts";
import type { LiveAgent } from "../agent/load.ts";

/** Permission of a caller to talk to this copy of an agent. A door holds a grant only inside `Agents.serve`. */
export interface Grant {
  agent: LiveAgent;
  by: Caller;
}

/** An agent that asks another one of its workspace. */
export interface Asker {
  id: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
}

/**
 * A client, with the `Authorization` header of its request and the origin of its page, null for a page of this server;
 * a signed-in person; another agent; or the engine itself, for background work and continued turns.
 */
export type Caller =
  | { type: "client"; authorization: string | undefined; origin: string | null }
  | { type: "session"; ctx: Ctx }
  | { type: "agent"; asker: Asker }
  | { type: "engine"; whileInactive: boolean };

/** A refusal by the agent's configuration. A cached copy may cause one that the stored agent does not. */
export class AgentRefusal extends EngineError {}

/** Spec "Authentication" 6 in the order of decisions §5: reachable, then authenticated. Throws an `AgentRefusal`. */
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

function refuseClient(
  agent: LiveAgent | null,
  { authorization, origin }: Extract<Caller, { type: "client" }>,
): AgentRefusal | null {
  if (!agent?.row.active || !agent.web.enabled) return unknownModel();
  // Without a key, any page that a person opens could reach agents in that person's network.
  if (!agent.row.authEnabled) return origin === null || allowsOrigin(agent, origin) ? null : foreignOrigin();
  return refuseKey(agent, authorization, "Auth enabled but no API key configured");
}

/** Compares the presented key with the stored one in constant time; `unconfigured` is the message when none is stored. */
export function refuseKey(
  { secrets }: LiveAgent,
  authorization: string | undefined,
  unconfigured: string,
): AgentRefusal | null {
  const key = secrets.get("auth_api_key");
  if (!key) return refusal("unauthorized", unconfigured);
  const presented = bearer(authorization);
  if (presented === null) return refusal("unauthorized", "Missing Bearer token");
  return sameText(presented, key) ? null : refusal("unauthorized", "Invalid API key");
}

/** Whether pages of an origin may read the agent's responses; false for an inactive agent as for a missing one. */
export function allowsOrigin(agent: LiveAgent | null, origin: string): boolean {
  if (!agent?.row.active || !agent.web.enabled) return false;
  const { allowedOrigins } = agent.web;
  return allowedOrigins.includes(origin) || allowedOrigins.includes("*");
}

const foreignOrigin = () =>
  refusal(
    "forbidden",
    "This origin is not allowed: add it to the agent's allowedOrigins or, if it is this server's own, set publicAddress",
  );

/** A signed-in person may talk to every agent within reach, also while the agent or its Web channel is off. */
function refuseSession(agent: LiveAgent | null, { membership }: Ctx): AgentRefusal | null {
  const scope = workspaceScope(membership);
  const own = agent?.row.organizationId === membership.organizationId;
  const reached = own && (scope === null || scope.includes(agent.row.workspaceId));
  return reached ? null : refusal("not-found", "Agent not found");
}

/** An agent may ask the other active agents of its workspace (decisions §7). */
function refuseAsker(agent: LiveAgent | null, slug: string, asker: Asker): AgentRefusal | null {
  const { id, organizationId, workspaceId } = asker;
  const near = agent?.row.organizationId === organizationId && agent.row.workspaceId === workspaceId;
  if (!agent || !near) return refusal("not-found", `There is no agent ${slug} to ask any more`);
  if (agent.row.id === id) return refusal("not-found", "An agent can't ask itself");
  return agent.row.active ? null : refusal("not-found", `The agent ${slug} is switched off`);
}

/** The token of `Authorization: Bearer <token>`, or null. */
export function bearer(authorization: string | undefined): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(authorization ?? "");
  return match?.[1] ?? null;
}
