/** What an operator's monitoring reads: `GET /metrics`. */

import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { measureFiles } from "./files.ts";
import { measureProcess } from "./process.ts";
import { measureQueues } from "./queues.ts";
import { metricsRoutes } from "./routes.ts";
import { measureTurns } from "./turns.ts";

/** What this process did and has, and what waits and lies in the database. Other features register metrics of their own. */
export function metricsFeature(services: Services): Contribution {
  measureProcess(services);
  measureQueues(services);
  measureFiles(services);
  return {
    routes: [metricsRoutes(services)],
    observers: services.options.metricsToken === undefined ? [] : [measureTurns(services)],
  };
}
