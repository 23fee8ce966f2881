import type { Services } from "../../context.ts";
import { TtlCache } from "../../core/cache.ts";
import type { ProviderName } from "../../core/providers.ts";
import { createAgents } from "./admit.ts";
import { loadAgent } from "./agent.ts";
import { approvalRoutes } from "./approval-routes.ts";
import { expireWaiting } from "./approvals.ts";
import { createAsk } from "./ask.ts";
import type { Ask } from "./ask-tools.ts";
import { createComplete } from "./complete.ts";
import { continueDecided } from "./continue.ts";
import type { RefusedCall } from "./door.ts";
import { embedderFor } from "./embed.ts";
import { Exports, ForeignTurns, forgetChunks } from "./follow.ts";
import { modelSpec } from "./model.ts";
import { playgroundRoutes } from "./playground.ts";
import { Replays } from "./replay.ts";
import { chatRoutes } from "./routes.ts";
import { OpenStreams } from "./streams.ts";
import { createTurns } from "./turns.ts";

/** The chat doors and the turns of this process. */
export function createChat(services: Services) {
  const agents = createAgents(services, (question) => ask(question));
  let wake = (_at: number) => {};
  const turns = createTurns(services, { reload: agents.readmit, onWork: (at) => wake(at) });
  const ask: Ask = createAsk({ services, agents, turns });
  const streams = new OpenStreams(services, agents);
  const { renewLeases } = turns;
  const refused = new TtlCache<RefusedCall>({ ttlMs: 60_000, now: () => services.clock.now() });
  const replays = new Replays(services.clock);
  const exports = new Exports(services, replays);
  const foreign = new ForeignTurns(services);
  const chat = { services, agents, turns, streams, refused, replays, foreign };
  return {
    routes: chatRoutes(chat),
    /** Guarded as all management routes are. */
    approvalRoutes: approvalRoutes(chat),
    /** What the fast model of an agent says, for background work. */
    complete: createComplete(services, agents),
    /** How an agent's memories are found by meaning, by its slug. */
    embedderOf: async (slug: string) => embedderFor(services, (await agents.admitEngine(slug)).agent),
    /** Whom to tell when work that a turn left behind is due. */
    onWork: (fn: (at: number) => void) => {
      wake = fn;
    },
    /** What a signed-in person does with an agent. */
    playgroundRoutes: playgroundRoutes(chat),
    async closeRevoked() {
      // First, since it holds memory and needs no database.
      replays.sweep();
      await streams.closeRevoked();
      await exports.look();
    },
    renewLeases,
    async tick() {
      await turns.tick();
      await expireWaiting(services.database);
      await forgetChunks(services.database);
      await continueDecided(chat, null);
    },
    async stop(graceMs: number) {
      await turns.stop(graceMs);
      await exports.stop();
    },
  };
}

/** The provider whose model answers for an agent as things are; null when there is no such agent. */
export async function answeringProvider(services: Services, slug: string): Promise<ProviderName | null> {
  const agent = await loadAgent(services, slug);
  return agent && modelSpec(services, agent).provider;
}
