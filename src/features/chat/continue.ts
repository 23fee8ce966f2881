import { newId } from "../../core/ids.ts";
import { sqlState } from "../../db/client.ts";
import { isRefusal } from "../../jobs/unless-refused.ts";
import { type DecidedTurn, findDecided, settleWaiting } from "./approvals.ts";
import type { Chat } from "./door.ts";

type Engine = Pick<Chat, "services" | "agents" | "turns" | "replays">;

/**
 * Goes on with turns whose calls are decided: all of them, or this one. What they say is stored, and kept for who comes
 * back. Once an agent refuses one, its others wait for the next call.
 */
export async function continueDecided(engine: Engine, turnId: string | null): Promise<void> {
  const { database, log } = engine.services;
  const refusing = new Set<string>();
  for await (const decided of findDecided(database, turnId, refusing)) {
    const { agentId } = decided;
    try {
      await continueTurn(engine, decided);
    } catch (err) {
      if (isRefusal(err)) {
        refusing.add(agentId);
        log.info({ agentId, reason: err.message }, "Decided turns wait until their agent takes them");
        continue;
      }
      // Of several replicas one is the first.
      if (sqlState(err) !== "23505") log.error({ turnId: decided.turnId, err }, "A decided turn could not go on");
    }
  }
  await settleWaiting(database);
}

async function continueTurn({ agents, turns, replays }: Engine, decided: DecidedTurn): Promise<void> {
  const { slug, ref, channel, channelId, subject, door, resumed } = decided;
  const grant = await agents.admitContinuation(slug, channel);
  const turn = await turns.takeTurn(grant, {
    door,
    ref,
    origin: { channel, channelId, source: "user", depth: 0, subject, ...resumed.suspended.from },
    input: { chatId: channelId, user: null, history: [], fresh: [] },
    rule: "always-finish",
    requestId: newId(),
    throttle: null,
    resumed,
  });
  // Whoever followed the turn that stopped may come back for this one.
  replays.keep(turn, { agentId: grant.agent.row.id, ref, door, stored: true, continues: resumed.turnId });
}
