import { z } from "@hono/zod-openapi";
import { slugParam } from "../agents/index.ts";
import {
  SlackChanges,
  SlackConfigShown,
  TelegramChanges,
  TelegramConfigShown,
  WhatsAppChanges,
  WhatsAppConfigShown,
} from "./messengers/schema.ts";
import { type ChannelType, channelTypes } from "./rules.ts";
import { WebConfigChanges, WebConfigShown } from "./web/schema.ts";

/** The channel `agent` has no settings except its switch. */
export const AgentConfigChanges = z.object({}).openapi("AgentConfigChanges");
const AgentConfigShown = z.object({}).openapi("AgentConfig");

/** The schema of each channel type's `config`, by its name in the OpenAPI document. */
export const configChanges = {
  WebConfigChanges,
  TelegramConfigChanges: TelegramChanges,
  SlackConfigChanges: SlackChanges,
  WhatsAppConfigChanges: WhatsAppChanges,
  AgentConfigChanges,
};

export const ChannelChanges = z
  .object({
    enabled: z.boolean().optional().openapi({ description: "Left out: as it is." }),
    // Parsed by `parseConfig`, since the path decides which schema applies.
    config: z
      .unknown()
      .optional()
      .openapi({
        anyOf: Object.keys(configChanges).map((name) => ({ $ref: `#/components/schemas/${name}` })),
        description:
          "The settings of the channel's type. Merged into what is stored, field by field; a field that the type does not have is refused. What the answer shows may be sent back.",
      }),
  })
  .openapi("ChannelChanges", {
    example: { enabled: true, config: { apiKey: "sk-agent-of-your-own", allowedOrigins: ["https://example.com"] } },
  });
export type ChannelChanges = z.infer<typeof ChannelChanges>;

const moment = z.iso.datetime().nullable();

const shown = <Type extends ChannelType, Config extends z.ZodType>(type: Type, config: Config) =>
  z.object({
    channelType: z.literal(type),
    enabled: z.boolean(),
    status: z.enum(["off", "starting", "running", "failing"]).openapi({
      description:
        "`starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on.",
      example: "running",
    }),
    lastError: z.string().nullable().openapi({
      description:
        "Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it.",
      example: null,
    }),
    lastReceivedAt: moment.openapi({ description: "When the last message of a person came in, over a messenger." }),
    lastSentAt: moment.openapi({ description: "When the messenger last took a message." }),
    config,
  });

const WebChannel = shown("web", WebConfigShown).openapi("WebChannel");
const TelegramChannel = shown("telegram", TelegramConfigShown).openapi("TelegramChannel");
const SlackChannel = shown("slack", SlackConfigShown).openapi("SlackChannel");
const WhatsAppChannel = shown("whatsapp", WhatsAppConfigShown).openapi("WhatsAppChannel");
const AgentChannel = shown("agent", AgentConfigShown).openapi("AgentChannel");

export type WebChannel = z.infer<typeof WebChannel>;
export type MessengerChannelShown =
  | z.infer<typeof TelegramChannel>
  | z.infer<typeof SlackChannel>
  | z.infer<typeof WhatsAppChannel>;
export type AgentChannel = z.infer<typeof AgentChannel>;

export const Channel = z
  .discriminatedUnion("channelType", [WebChannel, TelegramChannel, SlackChannel, WhatsAppChannel, AgentChannel])
  .openapi("Channel");
export type Channel = z.infer<typeof Channel>;

export const ChannelAnswer = z.object({ channel: Channel }).openapi("ChannelAnswer");
export const ChannelList = z.object({ channels: z.array(Channel) }).openapi("ChannelList");

export const ChannelTest = z
  .object({
    ok: z.boolean().openapi({ description: "Whether all checks went well." }),
    checks: z.array(
      z.object({
        name: z.enum(["credentials", "webhook", "reachable"]).openapi({
          description:
            "`credentials`: whether the messenger takes them. `webhook`: whether it calls this server. Slack and Twilio do not say: then `ok` is true, and `message` tells what a person has to compare there. `reachable`: whether its calls arrive.",
        }),
        ok: z.boolean(),
        message: z.string().openapi({ example: "The bot is @acme_helper_bot" }),
      }),
    ),
  })
  .openapi("ChannelTest");
export type ChannelTest = z.infer<typeof ChannelTest>;

export const channelParams = slugParam.extend({
  type: z.string().openapi({ description: `One of: ${channelTypes.join(", ")}.`, example: "web" }),
});
