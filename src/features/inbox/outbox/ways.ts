import type { Services } from "../../../context.ts";
import { MessengerError, type MessengerName, messengerNames } from "../../../core/channels/messengers.ts";
import { EngineError } from "../../../core/errors.ts";
import { openMessenger } from "../../channels/index.ts";
import type { Ask } from "../../handoff/index.ts";
import type { Place } from "./outgoing.ts";
import type { NextPart } from "./rows.ts";

/** Sends a part; answers its id at the messenger, empty where it has none. Rejects with a `MessengerError`. */
type Send = (signal: AbortSignal) => Promise<string>;

/** How a part gets to its place, or why it can't, in words. */
export type Way = { send: Send } | { closed: string };

/** Finds the way of a part as the agent's channels are now. */
export type FindWay = (place: Place, part: NextPart) => Promise<Way>;

/** The messenger of a place; null where another agent reads it. */
export const messengerOf = ({ channel }: Place): MessengerName | null =>
  messengerNames.find((name) => name === channel) ?? null;

export function createWays(services: Services, ask: Ask): FindWay {
  return async (place, part) => {
    const { agentId, channel, target } = place;
    if (!part.agent.active) return { closed: "The agent is switched off" };
    if (channel === "agent") return { send: (signal) => tell(ask, target, part, signal) };
    const name = messengerOf(place);
    const opened = name && (await openMessenger(services, { id: agentId }, name));
    if (!opened?.enabled) return { closed: `The agent's channel ${channel} is off` };
    return { send: (signal) => opened.account.send(target, part.body, signal) };
  };
}

/** The door between agents finds a part by its id that the other agent has read already. */
async function tell(ask: Ask, slug: string, part: NextPart, signal: AbortSignal): Promise<string> {
  const { id, agent, body, turn } = part;
  const parentId = turn?.conversationId ?? null;
  const thread = { id: parentId ?? agent.id, parentId };
  const subject = turn?.subject ?? `${slug}:agent:${agent.slug}:${thread.id}`;
  const origin = { channel: "agent", channelId: thread.id, source: "user", depth: 0, subject } as const;
  const context = { toolCallId: id, signal, origin, emit: () => {} };
  try {
    await ask({ asker: agent, slug, message: body, thread, context, idempotency: { key: id, digest: id } });
    return "";
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw refusalOf(error);
  }
}

/** What a later try may bring to an end; whatever else the other agent's turn came to is not repeated. */
const passing: ReadonlySet<string> = new Set(["unavailable", "rate-limited", "conflict"]);

function refusalOf(error: unknown): MessengerError {
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error ? error.cause : undefined;
  const isPassing = cause instanceof EngineError && passing.has(cause.code);
  return new MessengerError(message, { isPermanent: !isPassing });
}
