import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { installationRoutes } from "./routes.ts";
import { loadPolicies } from "./service.ts";

/** Reads the settings that `doctor` checks. Changes nothing. */
export { inspectSettings, type SettingsReport } from "./inspect.ts";
/** Applies policies that another process changed. */
export { loadPolicies } from "./service.ts";

/** `/api/installation/policies`. Each process applies the stored policies at its start and with every tick. */
export function installationFeature(services: Services): Contribution {
  const load = () => loadPolicies(services);
  return { routes: [installationRoutes], boot: load, ticks: { seldom: load } };
}
