import type { Services } from "../src/context/ctx.ts";
import { newId } from "../src/core/ids.ts";
import { scrubber } from "../src/core/scrub/scrub.ts";
import { admit, createTurns, type Turn, type TurnRequest, type Turns } from "../src/features/turns/index.ts";
import type { Completion } from "../src/jobs/complete.ts";
import { Heartbeat } from "../src/jobs/heartbeat.ts";
import type { StartedTurn, TurnObserver } from "../src/turn/observers.ts";

/** The turns of a process of its own, without doors, and with these observers only. */
export function ownTurns(services: Services, observers: readonly TurnObserver[] = []): Turns {
  return createTurns(services, {
    heartbeat: new Heartbeat(services),
    toolSources: () => [],
    observers: () => observers,
    onWork: () => {},
    continuedBy: async () => ({}),
  });
}

/** One prompt of a job. */
export function asking(signal = new AbortController().signal): Completion {
  return { signal, purpose: "test", conversationRef: "helper:web:x" };
}

/** Takes a turn as the engine itself, for requests that no HTTP door allows. */
export function takeOwnTurn({ agents, takeTurn }: Turns, slug: string, request: TurnRequest): Promise<Turn> {
  return agents.serve(slug, async (agent) =>
    takeTurn(admit(agent, slug, { type: "engine", whileInactive: false }), request),
  );
}

/** A turn as observers get it. */
export function startedTurn(fields: Partial<StartedTurn> = {}): StartedTurn {
  return {
    id: "turn-1",
    agent: {
      id: "agent-1",
      slug: "assistant",
      name: "Assistant",
      organizationId: newId(),
      workspaceId: newId(),
      iconVersion: null,
    },
    door: "native",
    origin: { channel: "web", channelId: "x", source: "user", depth: 0, subject: "web:x" },
    conversationRef: "assistant:web:x",
    stored: true,
    begins: true,
    continues: null,
    askedBy: null,
    requestId: newId(),
    fresh: ["Hello"],
    scrub: scrubber([]),
    tracing: null,
    model: { provider: "demo", model: "demo" },
    leave: () => {},
    abort: () => {},
    ...fields,
  };
}
