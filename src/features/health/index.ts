import type { Contribution } from "../../contribution.ts";
import { healthRoutes } from "./routes.ts";
import { createExamine, type HealthDependencies } from "./service.ts";

/** The checks of `doctor` on a database that no server uses. */
export { checkContent, checkDatabase } from "./checks.ts";
export { type Inspection, inspect } from "./inspect.ts";

/** `/api/installation/health`. */
export const healthFeature = (needs: HealthDependencies): Contribution => ({
  routes: [healthRoutes(createExamine(needs))],
});
