import { answerText } from "../../../core/egress/text.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { Happening } from "../../../turn/activity.ts";
import { type PayloadProblem, type ReadPayload, readPayload } from "../events/payload.ts";
import type { NewEvent } from "../ledger/store.ts";
import type { WebhookSource } from "../sources/find.ts";
import type { EventAnswer } from "./schema.ts";

type Judged = Pick<NewEvent, "payload" | "outcome" | "reason"> & { answer: EventAnswer };

/** The ledger entry of a call of a source, and the answer to its sender. `body` says why it could not be read, where it could not. */
export function eventOf(
  { enabled, active }: Pick<WebhookSource, "enabled" | "active">,
  body: Uint8Array | PayloadProblem,
  contentType: string | undefined,
): Judged {
  if (typeof body === "string") return unreadable(body);
  const read: ReadPayload = readPayload(body, contentType ?? null);
  if (!read.ok) return unreadable(read.error, answerText(body, contentType));
  const { payload } = read;
  // The sender can do nothing about these two.
  const answer = { ok: true } as const;
  if (!enabled) return { payload, outcome: "source-disabled", reason: "The event source is turned off", answer };
  if (!active) return { payload, outcome: "room-off", reason: "The agent is inactive", answer };
  return { payload, outcome: "pending", answer };
}

/** The activity entry of a received event. */
export function received(source: string, { outcome, reason }: Pick<NewEvent, "outcome" | "reason">): Happening {
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

function unreadable(error: PayloadProblem, payload?: JsonValue): Judged {
  const event = { outcome: "invalid-payload", reason: error, answer: { ok: false, error } } as const;
  return payload === undefined ? event : { ...event, payload };
}
