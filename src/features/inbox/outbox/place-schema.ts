import { z } from "@hono/zod-openapi";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { readTarget } from "../../../core/channels/targets.ts";
import { zText } from "../../../core/text/text.ts";
import { invalid } from "../../../http/errors.ts";
import type { Message } from "./send-to.ts";

/** The channels for an agent's unrequested messages. */
const outboundChannels = [...messengerNames, "agent"] as const;

/** The destination of results, as callers set it: both fields, or null for none. */
export const outboundFields = {
  outboundChannel: z
    .enum(outboundChannels)
    .nullable()
    .openapi({ description: "The channel over which results reach people; null for none.", example: "telegram" }),
  outboundTarget: zText(256)
    .trim()
    .nullable()
    .overwrite((target) => target || null)
    .openapi({
      description:
        "Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`.",
      example: "123456789",
    }),
};

interface Outbound {
  outboundChannel?: string | null | undefined;
  outboundTarget?: string | null | undefined;
}

type Read<Channel> = { place: { outboundChannel: Channel; outboundTarget: string | null } } | { problem: string };

/**
 * Reads a destination, or returns why it is invalid: it needs both fields or none, and a target in its messenger's form.
 */
function readPlace<Channel extends string | null>(channel: Channel, sent: string | null | undefined): Read<Channel> {
  const outboundTarget = sent?.trim() || null;
  if (channel === null) {
    if (outboundTarget !== null) return { problem: "Set outboundChannel too, or set outboundTarget to null" };
    return { place: { outboundChannel: channel, outboundTarget } };
  }
  if (outboundTarget === null) return { problem: "Set outboundTarget too, or set outboundChannel to null" };
  const name = messengerNames.find((known) => known === channel);
  const read = name === undefined ? { target: outboundTarget } : readTarget(name, outboundTarget);
  if ("expected" in read) return { problem: read.expected };
  return { place: { outboundChannel: channel, outboundTarget: read.target } };
}

/** Adds a schema issue for an invalid destination. */
export function checkOutbound({ outboundChannel = null, outboundTarget }: Outbound, context: z.RefinementCtx): void {
  const read = readPlace(outboundChannel, outboundTarget);
  if ("problem" in read) context.addIssue({ code: "custom", path: ["outboundTarget"], message: read.problem });
}

/** The fields, with a valid destination in its stored form. */
export function withStoredPlace<Fields extends Outbound>(fields: Fields): Fields {
  const read = readPlace(fields.outboundChannel ?? null, fields.outboundTarget);
  return "place" in read ? { ...fields, outboundTarget: read.place.outboundTarget } : fields;
}

interface Changes<Channel> {
  outboundChannel?: Channel | undefined;
  outboundTarget?: string | null | undefined;
}

/**
 * Applies changes to a destination, in stored form. Unchanged fields stay as they are, since they may be older than the
 * check of targets. Throws the 400 with the expected form.
 */
export function changedPlace<Channel extends string | null>(
  sent: Changes<Channel>,
  before: Required<Changes<Channel | null>> = { outboundChannel: null, outboundTarget: null },
) {
  const { outboundChannel = before.outboundChannel ?? null, outboundTarget = before.outboundTarget ?? null } = sent;
  if (sent.outboundChannel === undefined && sent.outboundTarget === undefined)
    return { outboundChannel, outboundTarget };
  const read = readPlace(outboundChannel, outboundTarget);
  if ("problem" in read) throw invalid([{ path: ["outboundTarget"], message: read.problem }]);
  return read.place;
}

/** The stored destination of an agent's results; null for none. */
export function outboundPlace(
  agentId: string,
  { outboundChannel, outboundTarget }: Outbound,
): Pick<Message, "agentId" | "channel" | "target"> | null {
  const channel = outboundChannels.find((known) => known === outboundChannel);
  return channel && outboundTarget ? { agentId, channel, target: outboundTarget } : null;
}
