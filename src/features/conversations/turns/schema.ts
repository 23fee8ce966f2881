import { z } from "@hono/zod-openapi";
import { page, pageQuery } from "../../../http/paging.ts";
import { SubjectChannel, Timestamp } from "../../../http/shapes.ts";
import { conversationPath, HookExecution, json, Message, source } from "../schema.ts";

const count = z.int().openapi({ example: 420 });
const milliseconds = z.int().openapi({ example: 840 });

const Turn = z
  .object({
    id: z.uuid().openapi({ description: "Also the id of the agent's message, where one is stored." }),
    status: z.enum(["queued", "running", "done", "approval", "failed", "aborted", "lost"]).openapi({
      description:
        "`approval`: it stopped at a call that a person decides about. `lost`: its process died or lost touch with the database.",
      example: "done",
    }),
    door: z.string().openapi({ description: "The way in.", example: "completions" }),
    source,
    subject: z.string().openapi({ description: "The end user, or the conversation without one.", example: "ada" }),
    subjectChannel: SubjectChannel.nullable(),
    provider: z.string().nullable().openapi({ example: "openai" }),
    model: z.string().nullable().openapi({ example: "gpt-5-mini" }),
    fingerprint: z.string().nullable().openapi({
      description: "Another one: prompt, tools or skills of the agent were different.",
      example: "9f2c4e11a0b37d56",
    }),
    promptTokens: count,
    completionTokens: count,
    costMicros: z.int().nullable().openapi({
      description:
        "What the turn cost by the prices of then, in millionths of the currency's unit. Null: unknown, or it has not ended.",
      example: 1_250,
    }),
    ttftMs: milliseconds.nullable().openapi({ description: "Until its first output; null: there was none." }),
    durationMs: milliseconds.nullable().openapi({ description: "Null: it has not ended." }),
    errorCode: z.string().nullable().openapi({
      description: "Why it failed or was aborted.",
      example: null,
    }),
    requestId: z.string().nullable().openapi({ description: "Finds the lines of the log.", example: "req-7" }),
    continues: z.uuid().nullable().openapi({ description: "The turn that waited for a decision before this one." }),
    createdAt: Timestamp,
    finishedAt: Timestamp.nullable(),
  })
  .openapi("Turn");
export type Turn = z.infer<typeof Turn>;

export const TurnQuery = z.object(pageQuery(20, 100));
export type TurnQuery = z.infer<typeof TurnQuery>;

export const TurnPage = z.object({ turns: z.array(Turn), ...page }).openapi("TurnPage");
export type TurnPage = z.infer<typeof TurnPage>;

const TurnToolCall = z
  .object({
    toolCallId: z.string().openapi({ example: "call_1" }),
    toolName: z.string().openapi({ example: "httpRequest" }),
    status: z.string().openapi({
      description:
        "`executed`, `failed`, `pending`, `approved`, `refused` or `expired`. A call that waited stands in the turn that goes on, too. `refused` is also one that nobody can approve where it came up.",
      example: "executed",
    }),
    durationMs: milliseconds.nullable(),
    decidedBy: z.uuid().nullable().openapi({ description: "The user who decided about it." }),
    reason: z.string().nullable().openapi({ description: "The reason that this user gave.", example: null }),
  })
  .openapi("TurnToolCall");

const TurnFailure = z
  .object({
    code: z.string().openapi({ example: "rate-limited" }),
    message: z
      .string()
      .openapi({ description: "What the caller was told.", example: "Model provider is rate limited" }),
    hint: z.string().nullable().openapi({
      description: "What to look at, in the engine's words.",
      example: "The provider is asked too often (status 429)",
    }),
    said: z.string().nullable().openapi({
      description: "The provider's answer, without secrets; at most 1000 characters.",
      example: '{"error":{"message":"Rate limit reached for requests"}}',
    }),
  })
  .openapi("TurnFailure");

const ofStep = "Absent for a step without a model call, and in turns of earlier releases.";

const calledModel = {
  connection: z.string().nullable().openapi({ description: "The name of the provider connection; null for none." }),
  provider: z.string().openapi({ example: "openai" }),
  model: z.string().openapi({ example: "gpt-5-mini" }),
};

const TurnStep = z
  .object({
    index: z.int().openapi({ example: 0 }),
    stepType: z.enum(["initial", "tool-result", "continue"]),
    connection: calledModel.connection.optional().openapi({
      description: `The name of the provider connection of the model that was called last; null for none. ${ofStep}`,
    }),
    provider: calledModel.provider.optional().openapi({ description: `The provider of that model. ${ofStep}` }),
    model: calledModel.model.optional().openapi({ description: `Its name. ${ofStep}` }),
    fallbacks: z
      .array(z.object({ ...calledModel, failure: z.union([TurnFailure, z.null()]) }))
      .optional()
      .openapi({
        description:
          "The models before it that did not answer, in order; the failure is null for a connection that rested. Absent in turns of earlier releases.",
      }),
    startedMs: milliseconds.openapi({ description: "After the turn began to run.", example: 3 }),
    firstOutputMs: milliseconds.nullable().openapi({ description: "From the step's start to its first output." }),
    durationMs: milliseconds.nullable().openapi({ description: "Null: the step did not end." }),
    promptTokens: count,
    completionTokens: count,
    cachedTokens: count.optional().openapi({
      description: "Prompt tokens that the provider had in its cache; absent for none.",
      example: 640,
    }),
    cacheWriteTokens: count.optional().openapi({
      description: "Prompt tokens that it added to its cache; absent for none.",
      example: 640,
    }),
    finishReason: z.string().nullable().openapi({ example: "stop" }),
    retries: z
      .array(z.object({ attempt: z.int(), waitMs: milliseconds, failure: TurnFailure }))
      .openapi({ description: "The attempts that failed, and how long the next one waited." }),
  })
  .openapi("TurnStep");

const PromptPart = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["text", "reasoning"]), text: z.string() }),
  z.object({ type: z.literal("file"), mediaType: z.string() }),
  z.object({ type: z.literal("tool-call"), toolCallId: z.string(), toolName: z.string(), args: z.unknown() }),
  z.object({ type: z.literal("tool-result"), toolCallId: z.string(), toolName: z.string(), result: z.unknown() }),
]);

const PromptMessage = z
  .object({ role: z.enum(["user", "assistant", "tool"]), content: z.array(PromptPart) })
  .openapi("PromptMessage");
export type PromptMessage = z.infer<typeof PromptMessage>;

/** The stored debug data of a turn. Texts and values contain no secrets; long ones are cut. */
export const TurnDebug = z
  .object({
    preparedMs: milliseconds.nullable().openapi({
      description: "From its request until it ran, the wait for earlier turns included. Null: it never ran.",
      example: 12,
    }),
    settings: z
      .object({
        thinking: z.boolean(),
        temperature: z.number().nullable(),
        maxOutputTokens: z.int().nullable(),
        maxSteps: z.int(),
      })
      .nullable(),
    prompt: z
      .object({
        system: z.string().openapi({ example: "# Identity\nYou are Carla." }),
        messages: z.array(PromptMessage),
        omitted: z.int().openapi({ description: "How many older messages of the prompt were not kept.", example: 0 }),
      })
      .nullable()
      .openapi({ description: "The prompt of the first call; later ones add the steps. Null: the turn never ran." }),
    memories: z.string().openapi({
      description: "The memories in the prompt, one a line.",
      example: "- Prefers tea (2026-11-21)",
    }),
    state: json.openapi({ description: "The state of the conversation before, without `_private`.", example: {} }),
    tools: z.array(
      z.object({
        name: z.string().openapi({ example: "github:getIssue" }),
        modelName: z.string().openapi({ description: "As the model sees it.", example: "github__getIssue" }),
        description: z.string(),
        needsApproval: z.boolean(),
      }),
    ),
    steps: z.array(TurnStep).openapi({ description: "With what each took; their texts and calls are in the message." }),
    handoffs: z
      .array(z.object({ toolCallId: z.string(), agent: z.string(), conversationId: z.string() }))
      .openapi({ description: "The conversations with other agents." }),
    hooks: z
      .array(HookExecution.omit({ id: true, createdAt: true }))
      .openapi({ description: "Hooks of a turn that stored no message; else they are in the turn's `hooks`." }),
    stateChanges: z
      .object({ set: json, removed: z.array(z.string()) })
      .nullable()
      .openapi({ description: "What the turn did to the state. Null: nothing." }),
    // A union, since with `nullable` the document would say that it is never null.
    failure: z.union([TurnFailure, z.null()]),
  })
  .openapi("TurnDebug");
export type TurnDebug = z.infer<typeof TurnDebug>;

const WholeTurn = Turn.extend({
  messages: z.array(Message).openapi({ description: "What was stored: the user's messages and the agent's." }),
  toolCalls: z.array(TurnToolCall),
  hooks: z.array(HookExecution),
  debug: TurnDebug.nullable().openapi({
    description: "Kept of turns that ran while the agent's `debugEnabled` was on, and shown while it is on.",
  }),
}).openapi("WholeTurn");
export type WholeTurn = z.infer<typeof WholeTurn>;

export const OneTurn = z.object({ turn: WholeTurn }).openapi("OneTurn");

export const turnPath = conversationPath.extend({
  turnId: z.string().openapi({
    param: { name: "turnId", in: "path" },
    description: "The turn's id, which is the id of the agent's message as well.",
    example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d",
  }),
});
