import type { Contribution } from "../../contribution.ts";
import { iconRoutes } from "./icon-routes.ts";
import { createInstanceRoutes } from "./routes.ts";
import type { BeforeDelete } from "./service.ts";

/** `/api/instances`, its agents and their icons. `beforeDelete` takes away what other features keep of an agent. */
export function agentsFeature(beforeDelete: BeforeDelete): Contribution {
  return { routes: [createInstanceRoutes(beforeDelete), iconRoutes] };
}

/** The agent of a slug within the caller's reach, or the 404; and the one way to change something that belongs to it. */
export { type AgentRow, findAgent, withinReach, writeAgent } from "./find.ts";
/** The slug rule of decisions §2, for doors that meet slugs outside these routes. */
export { isSlug } from "./rules.ts";
/** Shapes that the routes under an agent share. */
export { type Instance, NewAgent, slugParam } from "./schema.ts";
/** Creating and reading agents, for what sets them up as a whole. */
export { createAgent, getAgent } from "./service.ts";
/** Brings agents' tools of source `skill` in line with the skills they are served, inside a transaction that changes those. */
export { syncSkillTools } from "./skill-tools.ts";
