import { z } from "@hono/zod-openapi";

const id = z.string().openapi({
  description: "`<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn.",
  example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d:3",
});
const index = z.int().openapi({ description: "Of the step, from 0.", example: 0 });
const text = z.string().openapi({ example: "Hello" });
const callId = z.string().openapi({ description: "The same for a call and its result.", example: "call-1" });

function event<Name extends string, Data extends z.ZodRawShape>(event: Name, name: string, data: Data) {
  return z.object({ id, event: z.literal(event), data: z.object(data) }).openapi(name);
}

const DoneMetadata = z
  .object({
    hookId: z.uuid().optional().openapi({ description: "The hook whose words the reply is." }),
    approval: z
      .object({ toolCallId: z.string().nullable(), toolCallIds: z.array(z.string()) })
      .optional()
      .openapi({ description: "The calls that wait for a decision, the first one apart." }),
  })
  .openapi("DoneMetadata");

/**
 * The events of the native stream (spec "POST /api/instances/{slug}/chat/stream"), each as an object of its SSE fields,
 * with `data` parsed.
 */
export const ChatEvent = z
  .discriminatedUnion("event", [
    event("hook-execution", "HookExecutionEvent", {
      hookId: z.uuid(),
      event: z.enum(["conversation_start", "message_received", "response_generated", "response_sent"]).openapi({
        description: "When it ran. Those after the model are told of behind the text.",
      }),
      toolName: z.string().openapi({ description: "Canonical name of the tool.", example: "currentTime" }),
      success: z.boolean(),
      durationMs: z.int().openapi({ example: 12 }),
    }),
    event("step-start", "StepStartEvent", { index, stepType: z.enum(["initial", "tool-result", "continue"]) }),
    event("reasoning-delta", "ReasoningDeltaEvent", { text }),
    event("tool-call", "ToolCallEvent", {
      id: callId,
      name: z.string().openapi({ description: "Canonical name of the tool.", example: "currentTime" }),
      args: z.unknown().openapi({ description: "What the model calls it with.", example: {} }),
    }),
    event("tool-result", "ToolResultEvent", {
      id: callId,
      result: z.unknown().openapi({ description: "What the tool answered; `{ error }` when it failed." }),
    }),
    event("text-delta", "TextDeltaEvent", { text }),
    event("step-finish", "StepFinishEvent", {
      index,
      finishReason: z.string().openapi({ description: "The model's reason to end the step.", example: "stop" }),
    }),
    event("done", "DoneEvent", {
      conversationId: z
        .string()
        .nullable()
        .openapi({ description: "Null after a refusal.", example: "assistant:web:api-user-42" }),
      messageId: z.uuid().nullable().openapi({ description: "The stored reply; null when nothing was stored." }),
      metadata: DoneMetadata.optional(),
    }),
    event("error", "ErrorEvent", {
      message: z.string().openapi({ description: "For the caller; `done` follows.", example: "Model provider error" }),
      code: z.enum(["resume_lost", "unavailable"]).optional().openapi({
        description:
          "Of a stream that ends before its turn. `resume_lost`: some events are gone for good, so read the conversation's messages. `unavailable`: resume again in a moment.",
        example: "unavailable",
      }),
    }),
  ])
  .openapi("ChatEvent", { description: "A server-sent event as an object of its fields, with `data` parsed." });

export type ChatEvent = z.infer<typeof ChatEvent>;
