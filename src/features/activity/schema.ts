import { z } from "@hono/zod-openapi";
import { activityKinds } from "../../core/activity/activity.ts";
import { activityCategories } from "../../core/activity/event.ts";
import { Timestamp } from "../../http/shapes.ts";

const slug = { example: "support" };

export const LiveQuery = z.object({
  instance: z
    .string()
    .optional()
    .openapi({ description: "The slug of an agent: only its events.", ...slug }),
});

export const ConversationStreamQuery = z.object({
  conversationId: z.string().openapi({
    description: "The public id of a stored conversation, on any channel.",
    example: "support:web:ticket-42",
  }),
  instanceId: z.string().openapi({ description: "The slug of the conversation's agent.", ...slug }),
});

export const lastSequenceHeader = z.object({
  "last-event-id": z.string().optional().openapi({
    description: "The id of the last event that was read, from an earlier stream of this process.",
    example: "1042",
  }),
});

const preview = z.string().optional().openapi({ description: "At most 500 characters." });

/** An event in its wire form (decisions §10, "Wire"). */
const ActivityEvent = z
  .object({
    id: z.string().openapi({
      description: "The start and the end of one thing share it, but for the suffixes `:start` and `:end`.",
      example: "call_1:end",
    }),
    ts: Timestamp,
    kind: z.enum(activityKinds).openapi({ example: "tool-end" }),
    category: z.enum(activityCategories).openapi({ example: "tool" }),
    text: z.string().openapi({ description: "A sentence for people.", example: "httpRequest answered" }),
    instance: z.object({
      id: z.uuid(),
      slug: z.string().openapi(slug),
      name: z.string().openapi({ example: "Support" }),
      icon: z.string().nullable().openapi({ example: "/api/instances/support/icon?v=9f86d081884c7d65" }),
    }),
    conversationId: z.string().nullable().openapi({ example: "support:web:ticket-42" }),
    tool: z.string().optional().openapi({ example: "httpRequest" }),
    status: z.enum(["ok", "failed", "blocked", "running"]).optional().openapi({ example: "ok" }),
    argsPreview: preview,
    resultPreview: preview,
    responsePreview: preview,
    durationMs: z.number().optional().openapi({ example: 180 }),
    channel: z.string().optional(),
    webhook: z
      .object({ source: z.string(), phase: z.enum(["received", "matched"]), definition: z.string().optional() })
      .optional(),
    cron: z.object({ taskId: z.string(), name: z.string() }).optional(),
    memory: z.object({ event: z.enum(["ADD", "UPDATE"]), content: z.string() }).optional(),
    conversation: z.object({ event: z.string() }).optional(),
    handoff: z.object({ agent: z.string(), phase: z.enum(["start", "end"]) }).optional(),
  })
  .openapi("ActivityEvent");

const conversationId = z.string().optional().openapi({
  description: "The public id of the row's conversation, on the stream of all conversations.",
  example: "support:web:ticket-42",
});

/** The data of `event: persisted`. */
const StoredRow = z
  .union([z.object({ messageId: z.uuid(), conversationId }), z.object({ hookExecutionId: z.uuid(), conversationId })])
  .openapi("StoredRow");

const sequence = z.string().openapi({ description: "What the stream is resumed by.", example: "1042" });

/** A server-sent event as an object of its fields, with `data` parsed. */
const LiveEvent = z
  .object({ id: sequence, event: z.literal("message"), data: ActivityEvent })
  .openapi("LiveEvent", { description: "A server-sent event as an object of its fields, with `data` parsed." });

const PersistedEvent = z
  .object({ id: z.string().openapi({ description: "Empty." }), event: z.literal("persisted"), data: StoredRow })
  .openapi("PersistedEvent", { description: "A server-sent event as an object of its fields, with `data` parsed." });

// OpenAPI 3.1 can't describe a sequence of events, so these schemas are of a single event.
export const liveAnswer = {
  description:
    "The stream: the last events, then what happens, each with `id:` and `data:`, until either side ends it.",
  content: { "text/event-stream": { schema: LiveEvent } },
} as const;

export const conversationAnswer = {
  description: "The stream, as the live one; and `event: persisted` for each stored message and hook execution.",
  content: { "text/event-stream": { schema: z.union([LiveEvent, PersistedEvent]) } },
} as const;
