import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { TtlCache } from "../../core/cache.ts";
import type { Turns } from "../turns/index.ts";
import type { Chat } from "./chat.ts";
import { approvalRoutes } from "./doors/approvals.ts";
import { playgroundRoutes } from "./doors/playground.ts";
import { chatRoutes } from "./doors/routes.ts";
import { Continuations } from "./replay/continuations.ts";
import { Exports, forgetChunks } from "./replay/export.ts";
import { ForeignTurns } from "./replay/foreign.ts";
import { Replays } from "./replay/replay.ts";

/**
 * The HTTP endpoints of chat. `doors` are completions and the native stream, for agent keys. `signedIn` are the
 * playground and the decisions about waiting calls, guarded like management routes.
 */
export function createChat(services: Services, turns: Turns): { doors: Contribution; signedIn: Contribution } {
  const now = () => services.clock.now();
  const replays = new Replays(services.clock);
  const exports = new Exports(services, replays);
  const continuations = new Continuations(services.database);
  const chat: Chat = {
    services,
    turns,
    replays,
    continuations,
    foreign: new ForeignTurns(services),
    refused: new TtlCache({ ttlMs: 60_000, now }),
    keyHolders: new TtlCache({ ttlMs: 24 * 60 * 60_000, now }),
  };
  const doors: Contribution = {
    routes: [chatRoutes(chat)],
    // After the replays: a stream that waits for a turn reads the turn's replay.
    observers: [replays, continuations],
    ticks: {
      often: [async () => replays.sweep(), () => exports.beginWanted(), () => continuations.look()],
      seldom: () => forgetChunks(services.database),
    },
    async stop() {
      continuations.stop();
      await exports.stop();
    },
  };
  return { doors, signedIn: { routes: [approvalRoutes(chat), playgroundRoutes(chat)] } };
}
