/** What holds for the whole installation: its policies. */

/** What `doctor` judges of the stored settings, without changing anything. */
export { inspectSettings, type SettingsReport } from "./inspect.ts";
/** `/api/installation/policies`. */
export { installationRoutes } from "./routes.ts";
/** Puts the stored policies into force in this process: at boot and with every tick. */
export { loadPolicies } from "./service.ts";
