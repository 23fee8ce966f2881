import type { Contribution } from "../../contribution.ts";
import { channelRoutes } from "./routes.ts";

/** An agent's account at a messenger. */
export { type MessengerChannel, openMessenger } from "./messengers/account.ts";
/** An agent that answers at once, for the quickstart. */
export { createQuickstartAgent, type QuickstartAgent } from "./quickstart.ts";
/** The configuration of an agent's channel `web`, opened for a turn. */
export { openWebConfig, type WebConfig } from "./web/config.ts";

/** `/api/instances/{slug}/channels`. */
export const channelsFeature: Contribution = { routes: [channelRoutes] };
