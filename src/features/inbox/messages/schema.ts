import { z } from "@hono/zod-openapi";
import { countedPage, pageQuery } from "../../../http/paging.ts";
import { Timestamp } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";

const direction = z.enum(["in", "out"]).openapi({ description: "`in`: from people; `out`: to them.", example: "out" });

const statuses = ["pending", "sending", "sent", "done", "dropped", "failed"] as const;

const status = z.enum(statuses).openapi({
  description:
    "`pending`: waits to be answered or sent; `sending`: on its way, or its messenger's answer was lost; `sent`, or `done` for one that was answered; `dropped`: not to be answered, such as a keyword that stops the agent; `failed`: given up, see `error`.",
  example: "failed",
});

export const messagesParams = slugParam.extend({
  type: z.string().openapi({ description: "`telegram`, `slack`, `whatsapp` or `agent`.", example: "telegram" }),
});

export const messageParams = messagesParams.extend({
  id: z.string().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});

export const MessagesQuery = z.object({
  direction: direction.optional(),
  status: status.optional(),
  ...pageQuery(50, 200),
});
export type MessagesQuery = z.infer<typeof MessagesQuery>;

const id = z.string().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" });

export const ChannelMessage = z
  .object({
    id,
    direction,
    status,
    conversationId: z
      .string()
      .nullable()
      .openapi({ description: "Null: it belongs to none.", example: "support:telegram:4711" }),
    peer: z.string().openapi({
      description: "Who wrote it, or where it goes: a person's, a chat's or a channel's id at the messenger.",
      example: "4711",
    }),
    text: z
      .string()
      .nullable()
      .openapi({ description: "Null for callers without `conversation:read`.", example: "Your parcel left today." }),
    error: z.string().nullable().openapi({
      description: "Why it failed, or what its last try met.",
      example: "Telegram refused sendMessage (403): Forbidden: bot was blocked by the user",
    }),
    attempts: z.int().openapi({
      description:
        "How often it was tried, with the time that it was answered, sent or given up; being asked to send less often counts as no try.",
      example: 1,
    }),
    mayBeRepeated: z.boolean().openapi({
      description: "Whether it was sent again although the messenger may have had it: its answer was lost.",
      example: false,
    }),
    turnId: z.string().nullable().openapi({ description: "The turn that answers or sends it." }),
    createdAt: Timestamp,
    sentAt: Timestamp.nullable(),
  })
  .openapi("ChannelMessage");
export type ChannelMessage = z.infer<typeof ChannelMessage>;

export const ChannelMessagePage = z
  .object({ messages: z.array(ChannelMessage), ...countedPage })
  .openapi("ChannelMessagePage");

export const RetriedMessage = z.object({ message: ChannelMessage }).openapi("RetriedMessage");
