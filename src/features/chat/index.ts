import type { Services } from "../../context.ts";
import type { ProviderName } from "../../core/providers.ts";
import { createAgents } from "./admit.ts";
import { loadAgent } from "./agent.ts";
import { modelSpec } from "./model.ts";
import { chatRoutes } from "./routes.ts";
import { OpenStreams } from "./streams.ts";
import { createTurns } from "./turns.ts";

/** The chat doors and the turns of this process. */
export function createChat(services: Services) {
  const agents = createAgents(services);
  const turns = createTurns(services, agents.readmit);
  const streams = new OpenStreams(services, agents);
  const { renewLeases, tick, stop } = turns;
  return {
    routes: chatRoutes({ services, agents, turns, streams }),
    closeRevoked: () => streams.closeRevoked(),
    renewLeases,
    tick,
    stop,
  };
}

/** The provider whose model answers for an agent as things are; null when there is no such agent. */
export async function answeringProvider(services: Services, slug: string): Promise<ProviderName | null> {
  const agent = await loadAgent(services, slug);
  return agent && modelSpec(services, agent).provider;
}
