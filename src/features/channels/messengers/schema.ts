import { z } from "@hono/zod-openapi";
import type { Transport } from "../../../core/channels/messengers.ts";
import { isMask } from "../../../core/credentials/masks.ts";
import { zText } from "../../../core/text/text.ts";

/** A credential, shown as a mask. To send the mask, or no field, leaves the stored credential unchanged. */
const credential = (pattern: RegExp, message: string, description: string, example: string) =>
  zText(512)
    .trim()
    .refine((value) => value === "" || isMask(value) || pattern.test(value), message)
    .nullable()
    .optional()
    .openapi({
      description: `${description} Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it.`,
      example,
    });

const transport = <const Names extends readonly [Transport, ...Transport[]]>(names: Names) =>
  z.enum(names).nullable().optional().openapi({
    description:
      "How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use.",
  });

const numericIds = zText(4_096)
  .transform((text) =>
    text
      .split(",")
      .map((id) => id.trim())
      .filter((id) => id !== ""),
  )
  .refine((ids) => ids.every((id) => /^-?\d{1,19}$/.test(id)), "must be numeric ids, separated by commas")
  .transform((ids) => ids.join(","))
  .optional()
  .openapi({
    type: "string",
    description:
      "Only these people are answered; empty: everyone. Who writes in the name of a group or channel is named by its id, such as -1001234567890.",
    example: "1234567,7654321",
  });

export const TelegramChanges = z
  .object({
    botToken: credential(
      /^\d{1,20}:[\w-]{20,}$/,
      "must be the token that BotFather gave, such as 123456789:AAE…",
      "The bot's token.",
      "123456789:AAE-example-of-a-token",
    ),
    allowedUserIds: numericIds,
    transport: transport(["webhook", "polling"]),
  })
  .openapi("TelegramConfigChanges");

export const SlackChanges = z
  .object({
    botToken: credential(
      /^xoxb-[\w-]{8,}$/,
      "must be the Bot User OAuth Token, which begins with xoxb-",
      "The app's bot token.",
      "xoxb-example-token",
    ),
    signingSecret: credential(
      /^[0-9a-z]{32}$/i,
      "must be the app's Signing Secret: 32 letters and digits",
      "Needed for `webhook`: Slack signs its calls with it.",
      "8f742231b10e8888abcd99yyyzzz85a5",
    ),
    appToken: credential(
      /^xapp-[\w-]{8,}$/,
      "must be an app-level token, which begins with xapp-",
      "Needed for `socket`: an app-level token with connections:write.",
      "xapp-example-token",
    ),
    transport: transport(["webhook", "socket"]),
  })
  .openapi("SlackConfigChanges");

export const WhatsAppChanges = z
  .object({
    mode: z
      .enum(["auth_token", "api_key"])
      .optional()
      .openapi({ description: "Told from the credentials when left out.", example: "auth_token" }),
    accountSid: credential(
      /^AC[0-9a-f]{32}$/i,
      "must be AC and 32 hexadecimal characters",
      "Twilio's account.",
      `AC${"0".repeat(32)}`,
    ),
    authToken: credential(/^\S{8,}$/, "must be the account's auth token", "For Auth Token mode.", "example-auth-token"),
    apiKeySid: credential(
      /^SK[0-9a-zA-Z]{32}$/,
      "must be SK and 32 characters",
      "For API Key mode.",
      `SK${"0".repeat(32)}`,
    ),
    apiKeySecret: credential(/^\S{8,}$/, "must be the API key's secret", "For API Key mode.", "example-key-secret"),
    whatsappNumber: zText(32)
      .trim()
      .refine(
        (value) => value === "" || /^\+[1-9]\d{6,14}$/.test(value),
        "must be plain E.164, such as +390612345678, without whatsapp:",
      )
      .optional()
      .openapi({ description: "The sender's number: plain E.164.", example: "+390612345678" }),
    transport: transport(["webhook"]),
  })
  .openapi("WhatsAppConfigChanges");

/** The schema of each messenger's `config` in requests. */
export const changesOf = { telegram: TelegramChanges, slack: SlackChanges, whatsapp: WhatsAppChanges } as const;
export type Changes = z.infer<(typeof changesOf)[keyof typeof changesOf]>;

const shown = (description: string, example: string) => z.string().optional().openapi({ description, example });
const mask = (example: string) => shown("The stored one, as a mask; absent when there is none.", `••••${example}`);

const webhookUrl = shown(
  "What the messenger calls, where messages come by webhook. One with a secret in it is shown to who may change channels.",
  "https://agents.example.com/webhooks/slack/support",
);

export const TelegramConfigShown = z
  .object({
    botToken: mask("oken"),
    allowedUserIds: shown(
      "Only these people are answered. A person who is taken off gets nothing more in a private chat of what was asked for earlier, scheduled tasks included.",
      "1234567",
    ),
    transport: z.enum(["webhook", "polling"]).openapi({ description: "The one in use." }),
    webhookUrl,
  })
  .openapi("TelegramConfig");

export const SlackConfigShown = z
  .object({
    botToken: mask("mple"),
    signingSecret: mask("85a5"),
    appToken: mask("mple"),
    transport: z.enum(["webhook", "socket"]).openapi({ description: "The one in use." }),
    webhookUrl,
  })
  .openapi("SlackConfig");

export const WhatsAppConfigShown = z
  .object({
    mode: z.enum(["auth_token", "api_key"]).optional().openapi({ description: "Absent before the first save." }),
    accountSid: mask("0000"),
    authToken: mask("oken"),
    apiKeySid: mask("0000"),
    apiKeySecret: mask("cret"),
    whatsappNumber: shown("The sender's number.", "+390612345678"),
    transport: z.enum(["webhook"]),
    webhookUrl,
  })
  .openapi("WhatsAppConfig");
