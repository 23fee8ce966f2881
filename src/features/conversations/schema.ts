import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { countedPage, page, pageQuery } from "../../http/paging.ts";
import { isInOrder, notInOrder, periodQuery } from "../../http/period.ts";
import { Timestamp } from "../../http/shapes.ts";
import { longestSnippet } from "./rules.ts";

const ref = z.string().openapi({ description: "The conversation's id.", example: "support:web:api-7" });
const instanceId = z.string().openapi({ description: "Slug of the agent.", example: "support" });
export const json = z.record(z.string(), z.unknown());

export const source = z.enum(["user", "webhook", "room", "scheduled"]).openapi({
  description: "What it came from: a person, a webhook's event, the agent's Room or a scheduled task.",
  example: "user",
});

export const Conversation = z
  .object({
    id: z.uuid(),
    conversationId: ref,
    title: z.string().nullable().openapi({ example: "Invoice of October" }),
    summary: z.string().nullable(),
    channel: z.string().openapi({ example: "web" }),
    source,
    instanceId,
    instanceName: z.string().openapi({ description: "The agent's name.", example: "Support" }),
    messageCount: z.int().openapi({ example: 4 }),
    totalTokens: z.int().openapi({ description: "Of all its turns, prompts and replies.", example: 1830 }),
    createdAt: Timestamp,
    updatedAt: Timestamp.openapi({ description: "When its last message came." }),
    legalHold: z.boolean().optional().openapi({
      description: "Whether it is exempt from deletion. In the managed edition only.",
      example: false,
    }),
  })
  .openapi("Conversation");
export type Conversation = z.infer<typeof Conversation>;

const FoundConversation = Conversation.extend({
  snippet: z
    .string()
    .nullable()
    .openapi({
      description: `With \`search\`: what stands around the match in its newest message that matches, as plain text of at most ${longestSnippet} characters. Null when its title matches alone.`,
      example: "… the invoice of October is still open …",
    }),
}).openapi("FoundConversation");

export const ConversationQuery = z
  .object({
    instanceId: zText(128).optional().openapi({ description: "Only this agent's: its slug.", example: "support" }),
    channel: zText(64).optional().openapi({ description: "The channel, exactly.", example: "web" }),
    source: source.optional(),
    search: zText(256).optional().openapi({
      description:
        "Part of the title, or words that all occur in one message, in any case; the last may be a word's beginning.",
      example: "invoice octo",
    }),
    ...periodQuery,
    ...pageQuery(20, 100),
  })
  .refine(isInOrder, notInOrder);
export type ConversationQuery = z.infer<typeof ConversationQuery>;

export const ConversationPage = z
  .object({
    conversations: z.array(FoundConversation),
    ...countedPage,
    searchedFrom: Timestamp.nullable().openapi({
      description:
        "With `search`: older conversations than this were searched only for words that few messages have, not in their titles. Pass it as `to` to search them in full. Null if all were.",
      example: null,
    }),
  })
  .openapi("ConversationPage");
export type ConversationPage = z.infer<typeof ConversationPage>;

export const OneConversation = z.object({ conversation: Conversation }).openapi("OneConversation");

export const NewTitle = z.object({
  title: zText(200)
    .trim()
    .min(1, "must not be empty")
    .openapi({ description: "1 to 200 characters.", example: "Invoice of October" }),
});

export const ConversationChange = NewTitle.extend({
  title: NewTitle.shape.title.optional().openapi({
    description: "1 to 200 characters. Required unless the managed edition gets a `legalHold`.",
  }),
  legalHold: z.boolean().optional().openapi({
    description:
      "Whether the conversation is exempt from deletion. In the managed edition only, with the feature `administration`, and with `org:write` besides.",
    example: true,
  }),
}).openapi("ConversationChange");
export type ConversationChange = z.infer<typeof ConversationChange>;

export const MessageQuery = z.object({
  ...pageQuery(50, 200),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "`asc` unless given: the oldest first.", example: "asc" }),
});
export type MessageQuery = z.infer<typeof MessageQuery>;

const Step = z
  .object({
    index: z.int(),
    stepType: z.enum(["initial", "tool-result", "continue"]),
    text: z.string(),
    toolCalls: z.array(z.object({ toolCallId: z.string(), toolName: z.string(), args: z.unknown() })),
    toolResults: z.array(z.object({ toolCallId: z.string(), result: z.unknown() })),
    reasoning: z.string(),
    finishReason: z.string().openapi({ example: "stop" }),
    durationMs: z.number().openapi({ example: 840 }),
  })
  .openapi("MessageStep");
export type Step = z.infer<typeof Step>;

const Attachment = z
  .object({
    id: z.uuid(),
    name: z.string().openapi({ example: "invoice.pdf" }),
    mime: z.string().openapi({ example: "application/pdf" }),
    size: z.int().openapi({ description: "In bytes.", example: 20480 }),
    url: z.string().openapi({ example: "/api/files/01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  })
  .openapi("Attachment");
export type Attachment = z.infer<typeof Attachment>;

export const Message = z
  .object({
    id: z.uuid(),
    role: z.enum(["user", "assistant"]),
    content: z.string().openapi({ example: "Is the invoice of October paid?" }),
    steps: z.array(Step).openapi({ description: "How the agent came to it, call by call of the model." }),
    reasoning: z.string().nullable(),
    attachments: z.array(Attachment),
    metadata: json.openapi({
      description:
        "`error`, `stopped` or `approval` of a turn that did not come to its end; `hookId` of the hook whose words a reply is; `model` with the model of each step and its provider connection, of an agent with connections; `sentBy`, with `turnId` and `conversationId`, of a message that the agent sent of itself from another conversation; `debug` of older turns, while the agent's `debugEnabled` is on: newer ones have it at `/turns/{turnId}`.",
      example: {},
    }),
    promptTokens: z.int().openapi({ example: 420 }),
    completionTokens: z.int().openapi({ example: 35 }),
    createdAt: Timestamp,
  })
  .openapi("Message");
export type Message = z.infer<typeof Message>;

export const MessagePage = z
  .object({
    messages: z.array(Message),
    ...page,
    limit: page.limit.openapi({
      description: "How many were asked for; how many these are where more would have over 8 MiB together.",
      example: 50,
    }),
    order: z.enum(["asc", "desc"]),
  })
  .openapi("MessagePage");
export type MessagePage = z.infer<typeof MessagePage>;

export const ConversationState = z
  .object({ state: json.openapi({ description: "Without `_private`.", example: { customer: "c-42" } }) })
  .openapi("ConversationState");

const hookPage = pageQuery(200, 200);

export const HookQuery = z.object({
  limit: hookPage.limit,
  offset: hookPage.offset.openapi({ description: "How many to skip, counted from the newest." }),
});
export type HookQuery = z.infer<typeof HookQuery>;

export const HookExecution = z
  .object({
    id: z.uuid(),
    hookId: z.uuid().openapi({ description: "The hook may be gone." }),
    event: z.string().openapi({ example: "message_received" }),
    toolName: z.string().openapi({ example: "httpRequest" }),
    success: z.boolean(),
    error: z.string().nullable(),
    durationMs: z.int().openapi({ example: 120 }),
    args: z.unknown().openapi({ example: { url: "https://api.example.com/customers/42" } }),
    result: z.unknown().openapi({ example: { status: 200 } }),
    createdAt: Timestamp,
  })
  .openapi("HookExecution");
export type HookExecution = z.infer<typeof HookExecution>;

export const HookExecutions = z.object({ executions: z.array(HookExecution) }).openapi("HookExecutions");
export type HookExecutions = z.infer<typeof HookExecutions>;

export const conversationPath = z.object({
  conversationId: z.string().openapi({
    param: { name: "conversationId", in: "path" },
    description: "The conversation's id, percent-encoded.",
    example: "support:web:api-7",
  }),
});
