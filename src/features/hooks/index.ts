import type { Contribution } from "../../contribution.ts";
import { hookRoutes } from "./routes.ts";

/** The hooks in a bundle. */
export { exportHooks, importHooks, placeHooks } from "./bundle.ts";
export { asksAgent } from "./rules.ts";
export { bundledHooks } from "./schema.ts";
/** The enabled hooks of an agent, in order. */
export { loadHooks } from "./service.ts";

/** `/api/instances/{slug}/hooks`: the tool calls around every reply. */
export const hooksFeature: Contribution = { routes: [hookRoutes] };
