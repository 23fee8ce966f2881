/** Serves `GET /metrics` for an operator's monitoring. */

import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { measureBudgets } from "./budgets.ts";
import { measureFiles } from "./files.ts";
import { measureProcess } from "./process.ts";
import { measureQueues } from "./queues.ts";
import { metricsRoutes } from "./routes.ts";
import { measureTurns } from "./turns.ts";

/** Metrics of this process, of queues, of stored files and of budgets. Other features register their own metrics. */
export function metricsFeature(services: Services): Contribution {
  measureProcess(services);
  measureQueues(services);
  measureFiles(services);
  measureBudgets(services);
  return {
    routes: [metricsRoutes(services)],
    observers: services.options.metricsToken === undefined ? [] : [measureTurns(services)],
  };
}
