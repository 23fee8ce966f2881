import { z } from "@hono/zod-openapi";
import { isModelName, splitModel } from "../../../core/models/providers.ts";
import { agentSlugPattern } from "../../../core/text/names.ts";
import { zText } from "../../../core/text/text.ts";
import { countedPage, pageQuery } from "../../../http/paging.ts";
import { SubjectChannel, Timestamp } from "../../../http/shapes.ts";

const Content = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() })).max(1000, "must hold at most 1000 parts"), z.null()])
  .openapi({ description: 'Text, or a list of `{type:"text"}` parts.' });

const roles = ["user", "assistant", "system", "developer", "tool", "function"];

const Message = z
  .looseObject({
    role: z
      .string()
      .refine((role) => roles.includes(role), `must be one of: ${roles.join(", ")}`)
      .openapi({ example: "user" }),
    content: Content.optional(),
  })
  .openapi("ChatMessage", { description: "System, developer, tool and function messages are accepted and dropped." });

/** The body of completions (spec "Chat-completions-compatible API"). Other fields are ignored. */
export const CompletionRequest = z
  .object({
    model: z
      .string()
      .regex(agentSlugPattern, "must be an agent slug: 1 to 128 of a-z, 0-9, _, . and -")
      .openapi({ example: "assistant", description: "Slug of the agent." }),
    messages: z
      .array(Message)
      .min(1, "must hold 1 to 100 messages")
      .max(100, "must hold 1 to 100 messages")
      .openapi({ example: [{ role: "user", content: "Hello" }] }),
    stream: z.boolean().nullish().openapi({ description: "Answer as server-sent events." }),
    stream_options: z
      .looseObject({ include_usage: z.boolean().nullish() })
      .nullish()
      .openapi({ description: "Honoured only when the agent's `streamUsageEnabled` is on." }),
    chat_id: zText(128)
      .nullish()
      .openapi({ example: "user-42", description: "The same `chat_id` continues the same conversation." }),
    user: zText(256).nullish().openapi({
      description:
        "The end user, whose memories and budget the turn touches. Believed of who presents the agent's key; without it the conversation stands for its user.",
    }),
    context: z
      .unknown()
      .optional()
      .openapi({
        type: "object",
        description:
          "Values for the conversation's state, written before the turn by the mapping of the agent's Web channel. Needs `chat_id` and the agent's key, also while `authEnabled` is off.",
        example: { customer: { id: "c-17" } },
      }),
  })
  .openapi("CompletionRequest", { example: { model: "assistant", messages: [{ role: "user", content: "Hello" }] } });

export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** The body of the native endpoint, where the path names the agent and every response is a stream. */
export const ChatRequest = CompletionRequest.omit({ model: true, stream: true, stream_options: true }).openapi(
  "ChatRequest",
  { example: { messages: [{ role: "user", content: "Hello" }], chat_id: "user-42" } },
);

export type ChatRequest = z.infer<typeof ChatRequest>;

/** Whether a text is `provider:model`. */
function namesProvider(text: string): boolean {
  const { provider, model } = splitModel(text);
  return provider !== null && isModelName(model);
}

/** The body of the playground. */
export const PlaygroundRequest = ChatRequest.extend({
  model: z
    .string()
    .nullish()
    .transform((model) => (model && namesProvider(model) ? model : null))
    .openapi({
      type: ["string", "null"],
      description:
        "As `provider:model`, the model that answers in place of the agent's own, to compare the two; takes `agent:write`. Any other text is ignored, such as the agent's slug, which clients of completions send.",
      example: "openai:gpt-5-mini",
    }),
}).openapi("PlaygroundRequest", { example: { messages: [{ role: "user", content: "Hello" }], chat_id: "try-1" } });

export type PlaygroundRequest = z.infer<typeof PlaygroundRequest>;

const Usage = z
  .object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() })
  .openapi("Usage", { example: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } });

export const ChatCompletion = z
  .object({
    id: z.string().openapi({ example: "chatcmpl-0123456789abcdef01234567" }),
    object: z.literal("chat.completion"),
    created: z.int().openapi({ example: 1_790_000_000 }),
    model: z.string().openapi({ example: "assistant" }),
    choices: z.array(
      z.object({
        index: z.literal(0),
        message: z.object({ role: z.literal("assistant"), content: z.string().openapi({ example: "Hello!" }) }),
        finish_reason: z.literal("stop"),
      }),
    ),
    usage: Usage,
  })
  .openapi("ChatCompletion");

export const Model = z
  .object({
    id: z.string().openapi({ example: "assistant", description: "Slug of the agent." }),
    object: z.literal("model"),
    created: z.int().openapi({ example: 1_790_000_000 }),
    owned_by: z.string().openapi({ example: "default", description: "Slug of the organization." }),
  })
  .openapi("Model");

export const ModelList = z.object({ object: z.literal("list"), data: z.array(Model) }).openapi("ModelList");

export const ApprovalDecision = z
  .object({
    approved: z.boolean(),
    reason: zText(1000)
      .optional()
      .openapi({ description: "Told to the model when refused.", example: "Too expensive." }),
  })
  .openapi("ApprovalDecision");
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

export const ApprovalQuery = z.object({
  status: z
    .enum(["pending"], { error: "must be pending" })
    .optional()
    .openapi({ description: "Only what waits is listed." }),
  instanceId: zText(128).optional().openapi({ description: "Only this agent's: its slug.", example: "support" }),
  ...pageQuery(20, 100),
});

const Approval = z
  .object({
    conversationId: z.string().openapi({ example: "support:web:api-42" }),
    instanceId: z.string().openapi({ description: "Slug of the agent.", example: "support" }),
    toolCallId: z.string().openapi({ example: "call_1" }),
    toolName: z.string().openapi({ example: "httpRequest" }),
    args: z.unknown().openapi({
      type: "object",
      description: "What the tool would be called with, without secrets.",
      example: { url: "https://shop.example/pay" },
    }),
    requestedAt: Timestamp,
    expiresAt: Timestamp,
    user: z.string().nullable().openapi({ description: "The end user, if the call named one.", example: "user-42" }),
    userChannel: SubjectChannel.nullable(),
  })
  .openapi("Approval");

export const ApprovalPage = z.object({ approvals: z.array(Approval), ...countedPage }).openapi("ApprovalPage");

export const ApprovalStatus = z.object({ status: z.enum(["approved", "refused"]) }).openapi("ApprovalStatus");
