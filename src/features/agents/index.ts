import type { Contribution } from "../../contribution.ts";
import { iconRoutes } from "./icon-routes.ts";
import { createInstanceRoutes, type Others } from "./routes.ts";

/** `/api/instances`, its agents and their icons. */
export function agentsFeature(others: Others): Contribution {
  return { routes: [createInstanceRoutes(others), iconRoutes] };
}

/**
 * `isAskable` limits a query to agents that others may call. `touchAskers` makes the agents that can call an agent load
 * again, in a transaction of `writeAgent` that concerns them.
 */
export { isAskable, touchAskers } from "./askers.ts";
/** An agent's own fields in a bundle. */
export { exportAgent, importAgent } from "./bundle.ts";
/** Ends the tasks that an agent made for people who opted out or were deleted. */
export { endTasks, endTasksOf, endTasksOfOpenWeb } from "./end-tasks.ts";
/** Finds a reachable agent, or throws the 404. Every change of an agent's data goes through `writeAgent`. */
export { type AgentRow, findAgent, withinReach, writeAgent } from "./find.ts";
/** The slug rule of decisions §2, for other routes; the columns that a model choice sets; a revision as a header. */
export { isSlug, modelColumns, revisionTag } from "./rules.ts";
/** Schemas that all routes below an agent share. */
export {
  AgentChanges,
  bundledAgent,
  type Instance,
  ifMatchHeader,
  NewAgent,
  slugParam,
} from "./schema.ts";
/** Creates, reads, changes and deletes whole agents, for other features. */
export { type BeforeDelete, createAgent, deleteAgent, getAgent, insertAgent, updateAgent } from "./service.ts";
/** Updates the tools that agents have from skills, in the transaction that changes the skills. */
export { syncSkillTools } from "./skill-tools.ts";
/** Makes cached agents load again, in the transaction that changes what they are made of. */
export { lockAgents, touchAgents, touchAgentsOf } from "./touch.ts";
