import type { Services } from "../../context.ts";
import { newId } from "../../core/ids.ts";
import { run } from "../../turn/run.ts";
import type { TurnInput } from "../../turn/types.ts";
import type { Complete } from "../memories/index.ts";
import type { Agents } from "./admit.ts";
import { fastModelSpec } from "./model.ts";

/** Without tools and history: what the fast model of an agent says to one prompt, for work that nobody waits for. */
export function createComplete(services: Services, agents: Agents): Complete {
  return async (slug, prompt, signal) => {
    const { agent } = await agents.admitEngine(slug);
    const { toolTimeoutSeconds, modelTimeoutSeconds } = services.policies.values;
    const input: TurnInput = {
      turnId: newId(),
      conversation: null,
      agent: { id: agent.row.id, slug, name: agent.row.name },
      origin: { channel: "background", channelId: "", source: "user", depth: 0, subject: "" },
      model: await services.models.resolve(fastModelSpec(services, agent)),
      settings: { thinking: false },
      system: "",
      history: [],
      fresh: [prompt],
      resumed: null,
      tools: new Map(),
      limits: {
        maxSteps: 1,
        connectMs: 60_000,
        silenceMs: 60_000,
        turnMs: modelTimeoutSeconds * 1000,
        toolMs: toolTimeoutSeconds * 1000,
      },
      state: {},
      scrub: agent.scrub,
    };
    const turn = run(input, signal, services.clock);
    for (;;) {
      const { done, value } = await turn.next();
      if (!done) continue;
      if (value.status === "done") return value.text;
      // Ours, without a word of the provider's.
      throw new Error(value.status === "failed" ? value.failure.message : `The fast model was ${value.status}`);
    }
  };
}
