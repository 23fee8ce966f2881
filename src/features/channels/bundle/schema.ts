import { z } from "@hono/zod-openapi";
import { SlackChanges, TelegramChanges, WhatsAppChanges } from "../messengers/schema.ts";
import type { ChannelType } from "../rules.ts";
import { WebConfigChanges } from "../web/schema.ts";

const { contextMapping, allowedOrigins } = WebConfigChanges.shape;
const { allowedUserIds, transport: byTelegram } = TelegramChanges.shape;
const { transport: bySlack } = SlackChanges.shape;
const { mode, whatsappNumber, transport: byWhatsApp } = WhatsAppChanges.shape;

const channel = <Type extends ChannelType, Config extends z.ZodRawShape>(type: Type, config: Config, isOn = false) =>
  z.object({
    channelType: z.literal(type),
    enabled: z.boolean().default(isOn),
    config: z.object(config).prefault({} as z.input<z.ZodObject<Config>>),
  });

const BundledChannel = z.discriminatedUnion("channelType", [
  channel("web", { contextMapping, allowedOrigins }),
  channel("telegram", { allowedUserIds, transport: byTelegram }),
  channel("slack", { transport: bySlack }),
  channel("whatsapp", { mode, whatsappNumber, transport: byWhatsApp }),
  channel("agent", {}, true),
]);
export type BundledChannel = z.output<typeof BundledChannel>;

const distinct = (list: readonly BundledChannel[]) =>
  new Set(list.map(({ channelType }) => channelType)).size === list.length;

/** The channels of an agent without their credentials, as a bundle holds them. */
export const bundledChannels = z
  .array(BundledChannel)
  .max(16, "must have at most 16 entries")
  .refine(distinct, "must not name a channel twice");
