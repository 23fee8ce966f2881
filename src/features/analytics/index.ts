import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { eraseUsage } from "./erase.ts";
import { createRollUp } from "./roll-up.ts";
import { createAnalyticsRoutes } from "./routes.ts";

/** `/api/analytics`, and the sums by day that it is read from. */
export function analyticsFeature(services: Services): Contribution {
  return { routes: [createAnalyticsRoutes()], ticks: { seldom: createRollUp(services) }, erase: eraseUsage };
}
