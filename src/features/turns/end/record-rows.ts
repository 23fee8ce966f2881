import type { JsonRow } from "../../../db/fragments.ts";
import { hookExecutions, jobs, messages, outbox, toolCalls } from "../../../db/schema.ts";

// The rows that RECORD stores beside its turn, which it takes as JSON.

export const messageShape = {
  id: messages.id,
  /** 1 for the first message of the turn. */
  position: "int",
  role: messages.role,
  content: messages.content,
  /** `searchWords` of the content. */
  search: "text",
  reasoning: messages.reasoning,
  steps: messages.steps,
  modelMessages: messages.modelMessages,
  metadata: messages.metadata,
  promptTokens: messages.promptTokens,
  completionTokens: messages.completionTokens,
} as const;

export type MessageRow = JsonRow<typeof messageShape>;

export const callShape = {
  id: toolCalls.id,
  toolCallId: toolCalls.toolCallId,
  name: toolCalls.name,
  args: toolCalls.args,
  status: toolCalls.status,
  durationMs: toolCalls.durationMs,
} as const;

export type CallRow = JsonRow<typeof callShape>;

export const hookShape = {
  id: hookExecutions.id,
  hookId: hookExecutions.hookId,
  position: hookExecutions.position,
  event: hookExecutions.event,
  toolName: hookExecutions.toolName,
  success: hookExecutions.success,
  error: hookExecutions.error,
  durationMs: hookExecutions.durationMs,
  args: hookExecutions.args,
  result: hookExecutions.result,
} as const;

export type HookRow = JsonRow<typeof hookShape>;

export const workShape = {
  id: jobs.id,
  kind: jobs.kind,
  key: jobs.key,
  payload: jobs.payload,
  runAt: jobs.runAt,
} as const;

export type WorkRow = JsonRow<typeof workShape>;

export const sendShape = {
  id: outbox.id,
  part: outbox.part,
  channel: outbox.channel,
  target: outbox.target,
  body: outbox.body,
} as const;

export type SendRow = JsonRow<typeof sendShape>;
