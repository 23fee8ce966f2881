import type { Services } from "../../context.ts";
import { TtlCache } from "../../core/cache.ts";
import type { ProviderName } from "../../core/providers.ts";
import { createAgents } from "./admit.ts";
import { loadAgent } from "./agent.ts";
import { approvalRoutes } from "./approval-routes.ts";
import { expireWaiting } from "./approvals.ts";
import { createComplete } from "./complete.ts";
import { continueDecided } from "./continue.ts";
import type { RefusedCall } from "./door.ts";
import { modelSpec } from "./model.ts";
import { chatRoutes } from "./routes.ts";
import { OpenStreams } from "./streams.ts";
import { createTurns } from "./turns.ts";

/** The chat doors and the turns of this process. */
export function createChat(services: Services) {
  const agents = createAgents(services);
  let wake = () => {};
  const turns = createTurns(services, { reload: agents.readmit, onLearn: () => wake() });
  const streams = new OpenStreams(services, agents);
  const { renewLeases, stop } = turns;
  const refused = new TtlCache<RefusedCall>({ ttlMs: 60_000, now: () => services.clock.now() });
  const chat = { services, agents, turns, streams, refused };
  return {
    routes: chatRoutes(chat),
    /** Guarded as all management routes are. */
    approvalRoutes: approvalRoutes(chat),
    /** What the fast model of an agent says, for background work. */
    complete: createComplete(services, agents),
    /** Whom to call when a turn left work behind. */
    onWork: (fn: () => void) => {
      wake = fn;
    },
    closeRevoked: () => streams.closeRevoked(),
    renewLeases,
    async tick() {
      await turns.tick();
      await expireWaiting(services.database);
      await continueDecided(chat, null);
    },
    stop,
  };
}

/** The provider whose model answers for an agent as things are; null when there is no such agent. */
export async function answeringProvider(services: Services, slug: string): Promise<ProviderName | null> {
  const agent = await loadAgent(services, slug);
  return agent && modelSpec(services, agent).provider;
}
