import type { Services } from "../../../context/ctx.ts";
import { answerText } from "../../../core/egress/text.ts";
import { EngineError } from "../../../core/errors.ts";
import { sameText } from "../../../core/ids.ts";
import type { JsonValue } from "../../../core/json.ts";
import { type BacklogBound, BacklogFull } from "../../../core/limits/backlog-bound.ts";
import type { Log } from "../../../core/ports.ts";
import { sqlState } from "../../../db/client.ts";
import { unlessDeadlocked } from "../../../db/retry.ts";
import type { ActivityDetails } from "../../../turn/activity.ts";
import { bearer } from "../../turns/index.ts";
import { type PayloadProblem, type ReadPayload, readPayload } from "../events/payload.ts";
import { type NewEvent, storeEvent } from "../ledger/store.ts";
import { findSourceByToken, type WebhookSource } from "../sources/find.ts";
import type { EventAnswer } from "./schema.ts";

/** A request to a webhook. */
interface WebhookCall {
  token: string;
  /** The body, or why it is unreadable. */
  body: Uint8Array | PayloadProblem;
  contentType: string | undefined;
  authorization: string | undefined;
  /** The client's address, for its fair share of the server. */
  client: string;
  log: Log;
}

/**
 * Stores a request's event in the ledger, with the job that matches it, and returns the response to the sender. Throws
 * the 401 for a request without the source's key, and the 503s.
 */
export type Receive = (call: WebhookCall) => Promise<EventAnswer>;

interface Dependencies {
  services: Services;
  boundBacklog: BacklogBound;
  /** Starts jobs that are due. */
  wake(): void;
}

export function createReceive(needs: Dependencies): Receive {
  const { services } = needs;
  const { admission, meters } = services;
  const answered = meters.counter({
    name: "agent_engine_webhooks_total",
    help: "Events of other systems by the answer to them: stored, the problem that their sender was told, or that too many wait.",
    labels: ["answer"],
  });
  const receive: Receive = async (call) => {
    const { body, client } = call;
    // One share for all tokens: otherwise a client would get a new share for each random token.
    const source = await admission.during(["webhooks", "", client], () => findSourceByToken(services, call.token));
    const isTooLarge = body === "payload too large";
    if (!source) return { ok: false, error: isTooLarge ? body : "unknown token" };
    if (!isProven(source, call.authorization)) {
      call.log.warn(
        { agent: source.agent.slug, source: source.id },
        "An event was refused: its call lacks the source's key",
      );
      // The size is checked before the key. The ledger gets only events whose sender proved its key.
      if (isTooLarge) return { ok: false, error: body };
      throw new EngineError("unauthorized", "This event source wants its key, as Authorization: Bearer <key>");
    }
    const share = [source.agent.organizationId, source.agent.slug, `source:${source.id}`] as const;
    return admission.during(share, () => keep(needs, source, call));
  };
  return async (call) => {
    const answer = await receive(call).catch((error: unknown) => {
      if (error instanceof BacklogFull) answered({ answer: "too many wait" });
      throw error;
    });
    answered({ answer: answer.ok ? "stored" : answer.error });
    return answer;
  };
}

/** Compares the presented key with the source's in constant time. */
const isProven = ({ authKey }: WebhookSource, authorization: string | undefined) =>
  authKey === null || sameText(bearer(authorization) ?? "", authKey);

async function keep(
  { services: { database, clock, activity }, boundBacklog, wake }: Dependencies,
  source: WebhookSource,
  { body, contentType }: WebhookCall,
): Promise<EventAnswer> {
  const { answer, ...event } = eventOf(source, body, contentType);
  const { id: sourceId, agent } = source;
  if (event.outcome === "pending") await boundBacklog(agent);
  const { id: agentId, organizationId } = agent;
  const row = { ...event, sourceId, agentId, organizationId, receivedAt: new Date(clock.now()) };
  try {
    await unlessDeadlocked(() => database.transaction((tx) => storeEvent(tx, row)));
  } catch (error) {
    // The source or its agent was deleted in this moment.
    if (sqlState(error) === "23503") return { ok: false, error: "unknown token" };
    throw error;
  }
  activity.emit({ ...received(source.name, event), agent, conversationId: null });
  if (event.outcome === "pending") wake();
  return answer;
}

type ReceivedEvent = Pick<NewEvent, "payload" | "outcome" | "reason"> & { answer: EventAnswer };

/** The ledger entry for a request, and the response to its sender. `body` is the body, or why it is unreadable. */
function eventOf(
  { enabled, active }: Pick<WebhookSource, "enabled" | "active">,
  body: Uint8Array | PayloadProblem,
  contentType: string | undefined,
): ReceivedEvent {
  if (typeof body === "string") return unreadable(body);
  const read: ReadPayload = readPayload(body, contentType ?? null);
  if (!read.ok) return unreadable(read.error, answerText(body, contentType));
  const { payload } = read;
  // A 200 although the event is useless: the sender can't fix these two cases.
  const answer = { ok: true } as const;
  if (!enabled) return { payload, outcome: "source-disabled", reason: "The event source is turned off", answer };
  if (!active) return { payload, outcome: "room-off", reason: "The agent is inactive", answer };
  return { payload, outcome: "pending", answer };
}

/** The activity of a received event. */
function received(source: string, { outcome, reason }: Pick<NewEvent, "outcome" | "reason">): ActivityDetails {
  const webhook = { source, phase: "received" } as const;
  return outcome === "pending"
    ? { kind: "webhook", text: `An event of ${source} came in`, status: "ok", webhook }
    : {
        kind: "webhook",
        text: `An event of ${source} is not handled: ${reason ?? outcome}`,
        status: "failed",
        webhook,
      };
}

function unreadable(error: PayloadProblem, payload?: JsonValue): ReceivedEvent {
  const event = { outcome: "invalid-payload", reason: error, answer: { ok: false, error } } as const;
  return payload === undefined ? event : { ...event, payload };
}
