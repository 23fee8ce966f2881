import { z } from "@hono/zod-openapi";
import { messengerNames } from "../../../core/channels/messengers.ts";
import { zText } from "../../../core/text/text.ts";
import type { Message } from "./send-to.ts";

/** The channels over which an agent sends what nobody asked for. */
export const outboundChannels = [...messengerNames, "agent"] as const;

/** Where results go, as callers name the place: both fields, or null for nowhere. */
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
        "Where the channel delivers: a chat id of Telegram, a channel or user id of Slack, a phone number of WhatsApp, the slug of another agent.",
      example: "123456789",
    }),
};

interface Outbound {
  outboundChannel?: string | null | undefined;
  outboundTarget?: string | null | undefined;
}

/** Why a place can't be kept; null when it can. A place needs both fields or none. */
export function outboundProblem({ outboundChannel, outboundTarget }: Outbound): string | null {
  const target = outboundTarget?.trim() ? outboundTarget : null;
  if ((outboundChannel ?? null) === null && target === null) return null;
  if ((outboundChannel ?? null) === null) return "Set outboundChannel too, or set outboundTarget to null";
  return target === null ? "Set outboundTarget too, or set outboundChannel to null" : null;
}

/** Reports `outboundProblem` as an issue of a schema. */
export function checkOutbound(sent: Outbound, context: z.RefinementCtx): void {
  const message = outboundProblem(sent);
  if (message !== null) context.addIssue({ code: "custom", path: ["outboundTarget"], message });
}

/** The stored place of an agent's results; null for none. */
export function outboundPlace(
  agentId: string,
  { outboundChannel, outboundTarget }: Outbound,
): Pick<Message, "agentId" | "channel" | "target"> | null {
  const channel = outboundChannels.find((known) => known === outboundChannel);
  return channel && outboundTarget ? { agentId, channel, target: outboundTarget } : null;
}
