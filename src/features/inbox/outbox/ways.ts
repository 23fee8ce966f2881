import type { Services } from "../../../context/ctx.ts";
import {
  chatOf,
  inChat,
  MessengerError,
  type MessengerName,
  messengerNames,
} from "../../../core/channels/messengers.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { EngineError } from "../../../core/errors.ts";
import { openMessenger } from "../../channels/index.ts";
import type { Ask } from "../../handoff/index.ts";
import { noteMoved, placeNow } from "../intake/moved.ts";
import type { Destination } from "./outgoing.ts";
import { hasStopped, type NextPart, stoppedAgent } from "./rows.ts";

/** Sends a part; returns the messenger's id for it, empty without one. Rejects with a `MessengerError`. */
type Send = (signal: AbortSignal) => Promise<string>;

/** How a part reaches its destination, or why this part can't, or why no part can. */
type DeliveryRoute = { send: Send } | { refused: string } | { closed: string };

/** Finds out how to send a part, from the current channels of its agent. */
export type FindDeliveryRoute = (place: Destination, part: NextPart) => Promise<DeliveryRoute>;

/** The reason when the operator removed a person from a channel's list. */
const unanswered = "The channel's allowedUserIds does not name the person";

/** Why the person at a destination no longer gets results that were requested earlier; null while they do. */
export async function closedTo(services: Services, place: Destination): Promise<string | null> {
  if (await hasStopped(services.database.db, place)) return stoppedAgent;
  const name = messengerOf(place);
  const opened = name && (await openMessenger(services, { id: place.agentId }, name));
  return opened && !opened.account.answers(place.target) ? unanswered : null;
}

/** The messenger of a destination; null for another agent. */
export const messengerOf = ({ channel }: Destination): MessengerName | null =>
  messengerNames.find((name) => name === channel) ?? null;

export function createWays(services: Services, ask: Ask): FindDeliveryRoute {
  return async (place, part) => {
    const { agentId, channel, target } = place;
    if (!part.agent.active) return { closed: "The agent is switched off" };
    if (channel === "agent") return { send: (signal) => tell(ask, target, part, signal) };
    const name = messengerOf(place);
    const opened = name && (await openMessenger(services, { id: agentId }, name));
    if (!name || !opened?.enabled) return { closed: `The agent's channel ${channel} is off` };
    if (part.isReply && !opened.account.answers(target)) return { refused: unanswered };
    const send = (place: string, signal: AbortSignal) => opened.account.send(place, part.body, signal);
    return { send: (signal) => sendToChat(services, { ...place, channel: name }, send, signal) };
  };
}

/** Sends to a chat's current id. Only the messenger's refusal may reveal that the id has changed. */
async function sendToChat(
  { database }: Services,
  { target, ...of }: Destination & { channel: MessengerName },
  send: (place: string, signal: AbortSignal) => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  const place = await placeNow(database.db, of, target);
  try {
    return await send(place, signal);
  } catch (error) {
    const movedTo = error instanceof MessengerError ? error.movedTo : null;
    if (movedTo === null || movedTo === chatOf(place)) throw error;
    await noteMoved(database.db, of, { movedFrom: chatOf(target), movedTo });
    return send(inChat(target, movedTo), signal);
  }
}

/** Sends a part to another agent. The part's id makes sure that it is answered only once. */
async function tell(ask: Ask, slug: string, part: NextPart, signal: AbortSignal): Promise<string> {
  const { id, agent, body, turn } = part;
  const parentId = turn?.conversationId ?? null;
  const thread = { id: parentId ?? agent.id, parentId };
  const subject = turn?.subject ?? subjectKey("conversation", `${slug}:agent:${agent.slug}:${thread.id}`);
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

/** The error codes after which sending to another agent is retried. All other errors are permanent. */
const passing: ReadonlySet<string> = new Set(["unavailable", "rate-limited", "conflict"]);

function refusalOf(error: unknown): MessengerError {
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error ? error.cause : undefined;
  const isPassing = cause instanceof EngineError && passing.has(cause.code);
  return new MessengerError(message, { isPermanent: !isPassing });
}
