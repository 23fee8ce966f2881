import { z } from "@hono/zod-openapi";
import { type Channel, channelOf } from "../../../core/channels/channels.ts";
import { longestParts } from "../../../core/channels/messengers.ts";
import { replyParts } from "../../../core/channels/reply-parts.ts";
import { defineJob } from "../../../jobs/define.ts";
import type { NewJob } from "../../../jobs/enqueue.ts";
import type { Alongside } from "../../turns/index.ts";

/** The destination of an agent's messages: people, or another agent. */
const Destination = z.object({
  agentId: z.uuid(),
  channel: z.string().transform(channelOf),
  /** The messenger's target, such as a chat id or a phone number, or the slug of an agent. */
  target: z.string(),
});
export type Destination = z.infer<typeof Destination>;

const placeKey = ({ agentId, channel, target }: Destination) => `${agentId}:${channel}:${target}`;

/** Sends a destination's outbox in order; one job at a time runs for a destination. */
export const sendJob = defineJob("outbox.send", Destination, placeKey);

/** Like `sendJob`, for texts to another agent: its turns take longer than a messenger, and call models. */
export const tellJob = defineJob("outbox.tell", Destination, placeKey);

/** Rows for the outbox and the job that sends them. */
export type Outgoing = Pick<Alongside, "sends" | "work">;

/**
 * The rows and the job that send a Markdown text to a destination, in parts that fit its messenger. Empty for a blank
 * text.
 */
export function outgoing(place: Destination, markdown: string): Outgoing {
  const { channel, target } = place;
  const sends = replyParts(markdown, longestPart(channel)).map((body) => ({ channel, target, body }));
  return { sends, work: sends.length === 0 ? [] : [sendWork(place)] };
}

/** The longest part for a channel. Another agent reads a text as a whole. */
function longestPart(channel: Channel): number {
  const limits: Readonly<Record<string, number>> = longestParts;
  return limits[channel] ?? Number.POSITIVE_INFINITY;
}

/** The job that sends a destination's outbox. */
export const sendWork = ({ agentId, channel, target }: Destination): NewJob =>
  (channel === "agent" ? tellJob : sendJob).of({ agentId, channel, target });
