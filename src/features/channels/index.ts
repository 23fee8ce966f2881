import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { leaveAll, leaveJobs } from "./messengers/leave.ts";
import { renewBots } from "./messengers/renew.ts";
import { createMoved, createRegistered } from "./messengers/restart.ts";
import { startJobs } from "./messengers/start.ts";
import { createChannelRoutes } from "./routes.ts";

/** The channels in a bundle. */
export { bundledChannels, exportChannels, importChannels } from "./bundle.ts";
/** An agent's account at a messenger, opened. */
export { type MessengerChannel, openMessenger } from "./messengers/account.ts";
/** Finds channels that are refused by their messengers, for `doctor`. */
export { inspectChannels, type TroubledChannel } from "./messengers/inspect.ts";
/** An agent that answers at once, for the quickstart. */
export { createQuickstartAgent, type QuickstartAgent, quickstartAgent } from "./quickstart.ts";
/** The channel type in a path. */
export { channelType } from "./rules.ts";
/** The channels of an agent, opened for its turns. */
export { type LoadedChannels, loadChannels } from "./service.ts";
/** The configuration of an agent's channel `web`, opened for a turn. */
export { openWebConfig } from "./web/config.ts";

/** `/api/instances/{slug}/channels`, and the jobs that start messengers' channels. `onWork` starts jobs that are due. */
export function channelsFeature(services: Services, { onWork }: { onWork: () => void }): Contribution {
  return {
    routes: [createChannelRoutes(onWork)],
    jobs: { ...startJobs(services), ...leaveJobs(services, onWork) },
    ticks: { seldom: [createMoved(services, onWork), createRegistered(services, onWork)] },
    boot: () => renewBots(services),
    beforeAgentDelete: (tx, agentId) => leaveAll(tx, services.cipher, agentId),
  };
}
