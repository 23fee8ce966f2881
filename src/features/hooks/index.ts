import type { Contribution } from "../../contribution.ts";
import { hookRoutes } from "./routes.ts";

/** The hooks that a bundle holds. */
export { exportHooks, importHooks, placeHooks } from "./bundle.ts";
export { asksAgent } from "./rules.ts";
export { bundledHooks } from "./schema.ts";
/** The hooks of an agent that are on, in their order. */
export { loadHooks } from "./service.ts";

/** `/api/instances/{slug}/hooks`: what an operator has done around every reply. */
export const hooksFeature: Contribution = { routes: [hookRoutes] };
