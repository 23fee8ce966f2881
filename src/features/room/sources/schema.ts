import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { Name, Timestamp } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import { EventDefinition, NewEventDefinition } from "./definition-schema.ts";
import { configProblem, mostDefinitions, mostSources, senderKeyProblem } from "./rules.ts";

/** The fields that callers may set, with descriptions. Create, change and read share this list. */
const settable = {
  name: Name.openapi({ description: "For people.", example: "GitHub issues" }),
  sourceType: zText(64)
    .trim()
    .min(1, "must not be empty")
    .openapi({ description: "What kind of system sends the events, in words of your own.", example: "webhook" }),
  config: z
    .record(z.string(), z.unknown())
    .superRefine((config, context) => {
      const message = configProblem(config);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .openapi({
      description:
        "Notes of your own about the sender, at most 16 KB, shown as they are: a key belongs into `authKey`.",
      example: { repository: "acme/shop" },
    }),
  enabled: z.boolean().openapi({
    description: "An event of a source that is off is answered and stands in the ledger, and nothing else.",
    example: true,
  }),
};

const authKey = zText(256)
  .superRefine((value, context) => {
    const message = senderKeyProblem(value);
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .nullable()
  .optional()
  .openapi({
    description:
      "What each call must bring as `Authorization: Bearer <authKey>`. Never shown; null for none. Without one the address is the only credential.",
    example: "9f2c1e-shared-with-the-sender",
  });

const address = {
  webhookToken: z.string().openapi({
    description: "The credential in the address: 43 characters, 256 bits.",
    example: "wN3v0Yp2kX8b1rQ5tZ7mC4eH6jL9sD0fG2aU3iO5xB8",
  }),
  webhookUrl: z.string().openapi({
    description: "Where the sender posts its events.",
    example: "https://agents.example.com/webhooks/wN3v0Yp2kX8b1rQ5tZ7mC4eH6jL9sD0fG2aU3iO5xB8",
  }),
};

export const EventSource = z
  .object({
    id: z.uuid(),
    ...settable,
    webhookToken: address.webhookToken
      .optional()
      .openapi({ description: "Only for callers with `agent.room:write`: who knows it can send events." }),
    webhookUrl: address.webhookUrl.optional().openapi({ description: "Only for callers with `agent.room:write`." }),
    authKeyConfigured: z.boolean().openapi({ description: "Whether calls must bring a key.", example: true }),
    definitions: z.array(EventDefinition).openapi({ description: "In the order in which the matcher asks." }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("EventSource");
export type EventSource = z.infer<typeof EventSource>;

export const EventSourceList = z.array(EventSource);

export const NewEventSource = z
  .object({
    ...settable,
    authKey,
    config: settable.config.default({}),
    enabled: settable.enabled.default(true),
  })
  .openapi("NewEventSource", { example: { name: "GitHub issues", sourceType: "webhook" } });
export type NewEventSource = z.infer<typeof NewEventSource>;

export const EventSourceChanges = z
  .object({ ...settable, authKey })
  .partial()
  .openapi("EventSourceChanges", { example: { enabled: false } });
export type EventSourceChanges = z.infer<typeof EventSourceChanges>;

/** A source's address, which is shown to callers who may create sources. */
export const EventSourceAddress = z.object({ id: z.uuid(), ...address }).openapi("EventSourceAddress");
export type EventSourceAddress = z.infer<typeof EventSourceAddress>;

export const sourcePath = slugParam.extend({
  id: z.string().openapi({ description: "The source's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});

export const definitionPath = sourcePath.extend({
  definitionId: z
    .string()
    .openapi({ description: "The definition's id.", example: "01936b2e-9a10-7c42-8d65-3e2f1b7c8d9e" }),
});

const bundledSource = z.object({
  ...settable,
  config: settable.config.default({}),
  enabled: settable.enabled.default(true),
  authKeyConfigured: z.boolean().default(false).openapi({
    description: "Whether calls had to bring a key, which no bundle holds.",
    example: true,
  }),
  definitions: z
    .array(NewEventDefinition)
    .max(mostDefinitions, `must have at most ${mostDefinitions} entries`)
    .default([]),
});

/** The sources in a bundle, without their addresses and keys. */
export const bundledSources = z.array(bundledSource).max(mostSources, `must have at most ${mostSources} entries`);
export type BundledSource = z.output<typeof bundledSource>;
