import type { Services } from "../../../context/ctx.ts";
import { asActing, type Activity as ConversationActivity } from "../../../core/activity/activity.ts";
import { previewOfText } from "../../../core/activity/preview.ts";
import { MessengerError } from "../../../core/channels/messengers.ts";
import type { CircuitBreaker } from "../../../core/limits/circuit-breaker.ts";
import { patiently } from "../../../db/retry.ts";
import type { JobHandler } from "../../../jobs/attempt.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import type { Activity } from "../activity.ts";
import type { Destination } from "./outgoing.ts";
import {
  failAll,
  type NextPart,
  noteFailed,
  noteSending,
  noteSent,
  noteWaiting,
  readNext,
  stoppedAgent,
} from "./rows.ts";
import { verdictOf } from "./verdict.ts";
import { type FindDeliveryRoute, messengerOf } from "./ways.ts";

/** After this time, in milliseconds, a destination with more parts lets other destinations send. */
const shareMs = 60_000;

interface Dependencies {
  services: Services;
  activity: Activity;
  breaker: CircuitBreaker;
  findWay: FindDeliveryRoute;
  /** Tells the worker that a job may be due. */
  wake: () => void;
}

/**
 * The job that sends a destination's parts, one after the other. Its progress is in the rows: a repeated job continues
 * after the last sent part.
 */
export function createSending(needs: Dependencies): JobHandler<Destination> {
  const { database, clock } = needs.services;
  return async ({ payload: place }, signal) => {
    const end = clock.now() + shareMs;
    for (let part = await readNext(database, place); part; part = await readNext(database, place)) {
      signal.throwIfAborted();
      if (clock.now() >= end) throw new Postponed("Other places come first", clock.now());
      await sendPart(needs, place, part, signal);
    }
  };
}

/** Sends a part or gives it up. Throws when the destination has to wait. */
async function sendPart(needs: Dependencies, place: Destination, part: NextPart, signal: AbortSignal): Promise<void> {
  const { services, activity, breaker, findWay } = needs;
  const { database, clock } = services;
  if (part.retryAt && part.retryAt.getTime() > clock.now()) throw new Postponed("It waits", part.retryAt.getTime());
  const refusal = refusalOf(part);
  if (refusal !== null) return giveUp(services, place, part, refusal);
  const way = await findWay(place, part);
  if ("closed" in way) return failAll(database.db, place, way.closed);
  if ("refused" in way) return giveUp(services, place, part, way.refused);
  const account = `${place.agentId}:${place.channel}`;
  const restsUntil = breaker.until(account);
  if (restsUntil !== null) throw new Postponed("Its messenger did not answer", restsUntil + Math.random() * 1_000);
  const sending = await noteSending(database, part);
  if (!sending) throw new Postponed("Another process sends it", clock.now() + 5_000);
  const name = messengerOf(place);
  try {
    const providerMessageId = await way.send(signal);
    breaker.note(account, true);
    if (name) activity.sent(place.agentId, name);
    const sent = { providerMessageId, sentAt: new Date(clock.now()) };
    const note = () => noteSent(database, sending, sent);
    const hasHooks = await patiently(clock, note, () => !signal.aborted);
    services.activity.emit(left(place, part, { text: `A message was sent on ${place.channel}`, status: "ok" }));
    if (hasHooks) needs.wake();
  } catch (error) {
    // After any other error the part may have been sent.
    if (signal.aborted || !(error instanceof MessengerError)) throw error;
    if (name) activity.failed(place.agentId, name, error.message, error.isOfAccount);
    breaker.note(account, error.isPermanent || error.retryAfterMs !== null);
    await judge(needs, place, sending, error);
  }
}

async function judge(
  { services }: Dependencies,
  place: Destination,
  part: NextPart,
  error: MessengerError,
): Promise<void> {
  const { database, clock, log } = services;
  const verdict = verdictOf(error, part, clock.now(), Math.random());
  const { slug: agent } = part.agent;
  const { channel } = place;
  const { id: messageId, turnId, attempts: tried } = part;
  const about = { agent, channel, messageId, turnId, attempts: tried, reason: error.message };
  if (verdict.kind === "failed") {
    log.warn(about, "A message could not be sent");
    return giveUp(services, place, part, verdict.error);
  }
  const { retryAt, ...waiting } = verdict;
  const { status, attempts } = waiting;
  await noteWaiting(database, part, { status, attempts, retryAt, error: error.message });
  throw new Postponed(error.message, retryAt.getTime());
}

/** Gives up a part and the rest of its reply. */
async function giveUp(
  { database, activity }: Services,
  place: Destination,
  part: NextPart,
  error: string,
): Promise<void> {
  await noteFailed(database, part, place, error);
  const text = previewOfText(`A message could not be sent on ${place.channel}: ${error}`);
  activity.emit(left(place, part, { text, status: "failed" }));
}

/** The activity event of a part. Its text was scrubbed before it was stored. */
function left(
  { channel }: Destination,
  { agent, body, conversationRef }: NextPart,
  how: Pick<ConversationActivity, "text" | "status">,
): ConversationActivity {
  const responsePreview = previewOfText(body);
  const conversationId = conversationRef;
  return { kind: "outbound", ...how, agent: asActing(agent), conversationId, channel, responsePreview };
}

/** Why a part is not sent any more; null when it is sent. */
function refusalOf({ status, mayBeRepeated, isStopped, turnId }: NextPart): string | null {
  if (isStopped && turnId !== null) return stoppedAgent;
  // The part was left `sending` before, and was already sent a second time.
  if (status === "sending" && mayBeRepeated)
    return "It may have been delivered: the server ended twice while it was sent";
  return null;
}
