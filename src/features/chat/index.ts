import type { Services } from "../../context.ts";
import { createAgents } from "./admit.ts";
import { chatRoutes } from "./routes.ts";
import { createTurns } from "./turns.ts";

/** The chat doors and the turns of this process. */
export function createChat(services: Services) {
  const agents = createAgents(services);
  const turns = createTurns(services, agents.readmit);
  const { renewLeases, tick, stop } = turns;
  return { routes: chatRoutes({ services, agents, turns }), renewLeases, tick, stop };
}
