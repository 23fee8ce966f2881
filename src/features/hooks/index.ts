/** What an operator has done around every reply of an agent. */

/** The hooks that are on, in their order. */
export { loadHooks } from "./load.ts";
/** `/api/instances/{slug}/hooks`. */
export { hookRoutes } from "./routes.ts";
