/** An agent that answers at once, for the quickstart. */
export { createQuickstartAgent } from "./quickstart.ts";
/** `/api/instances/{slug}/channels`. */
export { channelRoutes } from "./routes.ts";
/** The configuration of an agent's channel `web`, opened for a turn. */
export { openWebConfig, type WebConfig } from "./web-config.ts";
