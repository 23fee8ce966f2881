import type { Services } from "../../../context/ctx.ts";
import { channels } from "../../../core/channels/channels.ts";
import { sqlState } from "../../../db/client.ts";
import { isRefusal } from "../../../jobs/unless-refused.ts";
import { admit } from "../access/admit.ts";
import type { Agents } from "../access/agents.ts";
import type { ContinuedBy } from "../request.ts";
import type { RunningTurns } from "../turns.ts";
import { type DecidedTurn, findDecided } from "./decided.ts";
import { endWaiting } from "./waiting.ts";

interface Dependencies {
  services: Services;
  agents: Agents;
  turns: RunningTurns;
  continuedBy: ContinuedBy;
}

/**
 * Continues turns whose tool calls are decided: all of them, or the given one. They are stored and observed like any
 * turn. After an agent refuses a turn, its other turns wait for the next run of this function.
 */
export async function continueDecided(needs: Dependencies, turnId: string | null): Promise<void> {
  const { database, log } = needs.services;
  const refusing = new Set<string>();
  for await (const decided of findDecided(database, turnId, refusing)) {
    const { agentId } = decided;
    try {
      await continueTurn(needs, decided);
    } catch (err) {
      if (isRefusal(err)) {
        refusing.add(agentId);
        log.info({ agentId, reason: err.message }, "Decided turns wait until their agent takes them");
        continue;
      }
      // 23505: another replica continues the turn already.
      if (sqlState(err) !== "23505") log.error({ turnId: decided.turnId, err }, "A decided turn could not go on");
    }
  }
  await endWaiting(database);
}

async function continueTurn({ agents, turns, continuedBy }: Dependencies, decided: DecidedTurn): Promise<void> {
  const { slug, ref, channel, channelId, subject, door, continued } = decided;
  const by = { type: "engine", whileInactive: channels[channel].whileInactive } as const;
  const added = await continuedBy(decided);
  const { from, model } = continued.suspended;
  await agents.serve(slug, async (agent) =>
    turns.takeTurn(admit(agent, slug, by), {
      door,
      ref,
      stored: true,
      origin: { channel, channelId, source: "user", depth: 0, subject, ...from },
      input: { history: [], fresh: [] },
      rule: "always-finish",
      // So that one id in the log covers the stop and the continuation.
      requestId: decided.turnId,
      throttle: null,
      ...(model === undefined ? {} : { model }),
      continued,
      ...added,
    }),
  );
}
