import { previewOfText } from "../../core/activity/preview.ts";
import type { Channel } from "../../core/channels/channels.ts";
import type { Happening } from "../../turn/activity.ts";
import type { TurnEnding } from "../../turn/observers.ts";
import type { AbortReason } from "../../turn/types.ts";

/** The activity entries of a turn's end. `spoken`: the reply is sent with it. */
export function ended(ending: TurnEnding, channel: Channel, spoken: boolean): Happening[] {
  if ("unrecorded" in ending) return [failed(channel, ending.unrecorded.message)];
  const { outcome } = ending;
  if (outcome.status === "failed") return [failed(channel, outcome.failure.message)];
  if (outcome.status === "aborted") return [{ kind: "conversation", channel, ...abortions[outcome.reason] }];
  const { status, text, steps, durationMs } = outcome;
  const said: Happening[] = [];
  const last = steps.at(-1)?.text ?? "";
  if (status === "done" && last !== "") {
    said.push({ kind: "reply", text: "The agent replied", responsePreview: previewOfText(last), durationMs });
  }
  if (spoken && text !== "") {
    const responsePreview = previewOfText(text);
    said.push({ kind: "outbound", text: `A reply was sent on ${channel}`, status: "ok", channel, responsePreview });
  }
  if (status === "approval") {
    const waiting = outcome.pending.map(({ toolName }) => toolName).join(", ");
    const asked = previewOfText(`The conversation waits for a decision about ${waiting}`);
    said.push({ kind: "conversation", text: asked, channel, conversation: { event: "approval" } });
  }
  return said;
}

const failed = (channel: Channel, why: string): Happening => ({
  kind: "conversation",
  text: previewOfText(`A turn failed: ${why}`),
  status: "failed",
  channel,
  conversation: { event: "failed" },
});

const abortions: Readonly<Record<AbortReason, Pick<Happening, "text" | "conversation">>> = {
  stop: { text: "The turn was stopped", conversation: { event: "stopped" } },
  disconnect: { text: "The client left before the reply began", conversation: { event: "stopped" } },
  superseded: { text: "A newer message took the place of the turn", conversation: { event: "superseded" } },
  shutdown: { text: "The turn ended with its server", conversation: { event: "interrupted" } },
  "lease-lost": { text: "The server of the turn was out of touch", conversation: { event: "interrupted" } },
};
