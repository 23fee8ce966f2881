import type { Contribution } from "../../contribution.ts";
import { iconRoutes } from "./icon-routes.ts";
import { createInstanceRoutes, type Others } from "./routes.ts";

/** `/api/instances`, its agents and their icons. */
export function agentsFeature(others: Others): Contribution {
  return { routes: [createInstanceRoutes(others), iconRoutes] };
}

/**
 * `isAskable` limits a query to agents that others may ask; `touchAskers` has the agents that ask one load anew, inside
 * a transaction of `writeAgent` that concerns them.
 */
export { isAskable, touchAskers } from "./askers.ts";
/** An agent's own fields in a bundle. */
export { exportAgent, importAgent } from "./bundle.ts";
/** Ends the tasks that an agent made for people, where their consent to talk ends. */
export { endTasksOf, endTasksOfOpenWeb } from "./end-tasks.ts";
/**
 * Finds an agent within the caller's reach, or throws the 404; `writeAgent` is the one way to change what belongs to an
 * agent.
 */
export { type AgentRow, findAgent, withinReach, writeAgent } from "./find.ts";
/**
 * The slug rule of decisions §2, for slugs that come by other routes; the columns that a choice of a model sets; the
 * header that shows a revision.
 */
export { isSlug, modelColumns, revisionTag } from "./rules.ts";
/** Shapes that the routes under an agent share. */
export {
  AgentChanges,
  bundledAgent,
  type Instance,
  ifMatchHeader,
  NewAgent,
  slugParam,
} from "./schema.ts";
/** Creates, reads and changes agents, for features that set up an agent as a whole. */
export { createAgent, getAgent, insertAgent, updateAgent } from "./service.ts";
/** Gives agents the tools that their skills require, inside the transaction that changes those skills. */
export { syncSkillTools } from "./skill-tools.ts";
