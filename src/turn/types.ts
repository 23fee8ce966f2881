import type { LanguageModelV4, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Scrub } from "../core/scrub.ts";

export type ModelMessage = LanguageModelV4Message;
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Where a turn comes from. */
export interface Origin {
  channel: string;
  channelId: string;
  source: "user" | "webhook" | "room" | "scheduled";
  /** 1 inside an agent-to-agent call, which may not call on. */
  depth: 0 | 1;
  userName?: string;
  /** The end user whose memories and budget it touches (decisions §5). */
  subject: string;
}

export interface Limits {
  maxSteps: number;
  /** Until a model call answers at all. */
  connectMs: number;
  /** Between two parts of a model's stream, the first included. */
  silenceMs: number;
  turnMs: number;
  toolMs: number;
}

export interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
  /** Ask the model to reason, where it can. */
  thinking: boolean;
}

export interface ToolContext {
  toolCallId: string;
  signal: AbortSignal;
  state: JsonObject;
  /** Of the turn: tools are made once for all turns of an agent. */
  origin: Origin;
  /** Null: nothing of the turn is stored, and nothing may be on its behalf. */
  conversation: { readonly id: string } | null;
}

export interface Tool {
  /** Canonical name, such as `github:issue`; the model sees the key in `TurnInput.tools`. */
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** `external`: something outside changes, so that nothing may be done twice. */
  effect: "none" | "external";
  /** A person decides about each call before it is made (decisions §7). */
  needsApproval: boolean;
  /** The arguments as the tool wants them; throws an `Error` whose message tells the model what is wrong. */
  validate(args: unknown): unknown;
  execute(args: unknown, context: ToolContext): Promise<JsonValue>;
}

/** A call that a person decides about before it is made. */
export interface PendingCall {
  toolCallId: string;
  /** As the model spelled it. */
  modelName: string;
  /** Canonical. */
  toolName: string;
  args: JsonValue;
}

/** A turn that goes on after a person decided about its calls. */
export interface Resumed {
  /** The model's own messages since the user's, verbatim, with all calls and the results there are. */
  readonly messages: readonly ModelMessage[];
  readonly decided: readonly (PendingCall & { approved: boolean; reason: string | null })[];
}

/** All that a turn needs, complete before it starts. Only `state` changes while it runs. */
export interface TurnInput {
  /** Also the id of the assistant's message, and what a stream is resumed by. */
  readonly turnId: string;
  /** Null: nothing of the turn but its row is stored. */
  readonly conversation: { readonly id: string; readonly ref: string; readonly ticket: number } | null;
  readonly agent: { readonly id: string; readonly slug: string; readonly name: string };
  readonly origin: Origin;
  readonly model: LanguageModelV4;
  readonly settings: ModelSettings;
  readonly system: string;
  readonly history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  readonly fresh: readonly string[];
  /** Null: the turn begins with the model. */
  readonly resumed: Resumed | null;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly limits: Limits;
  readonly state: JsonObject;
  /** Blots the agent's secrets out of a text. */
  readonly scrub: Scrub;
}

/** `continue` is for a provider that pauses its own step and wants to be called again. */
export type StepType = "initial" | "tool-result" | "continue";

export interface Usage {
  promptTokens: number;
  completionTokens: number;
}

/** What happens in a turn, in order: the one thing that every door, the bus and the tracer consume. */
export type TurnEvent =
  | { type: "step-start"; index: number; stepType: StepType }
  /** A tool's input began: nothing to show, but a disconnect no longer cancels the turn. */
  | { type: "produced" }
  | { type: "reasoning-delta"; text: string }
  | { type: "text-delta"; text: string }
  | { type: "tool-call"; id: string; name: string; args: JsonValue }
  | { type: "tool-result"; id: string; result: JsonValue }
  | { type: "step-finish"; index: number; finishReason: string; usage: Usage };

/** A step as it is stored and shown (decisions §5). */
export interface Step {
  index: number;
  stepType: StepType;
  text: string;
  toolCalls: { toolCallId: string; toolName: string; args: JsonValue }[];
  toolResults: { toolCallId: string; result: JsonValue }[];
  reasoning: string;
  finishReason: string;
  durationMs: number;
}

export type AbortReason = "disconnect" | "stop" | "shutdown" | "lease-lost";

/** Why a model call ended badly, without a word of the provider's. */
export type FailureCode = "provider-failed" | "provider-timeout" | "rate-limited" | "unavailable" | "internal";

export interface Failure {
  code: FailureCode;
  /** For the caller; ours. */
  message: string;
  /** For the log; the provider's. */
  cause: unknown;
  retryAfterSeconds?: number;
}

interface Outcome {
  /** The text of all steps, in order (decisions §5, "Reply"). */
  text: string;
  reasoning: string;
  steps: Step[];
  /** The provider's own messages of this turn, verbatim; each tool call in them has its result. */
  messages: ModelMessage[];
  usage: Usage;
  /** The calls that were made, and whether they went well. */
  calls: { toolCallId: string; toolName: string; ok: boolean; durationMs: number }[];
  /** Whether anything came out: text, reasoning or the beginning of a tool call. */
  produced: boolean;
  /** Milliseconds from the start of the turn to its first output. */
  firstOutputMs: number | null;
  durationMs: number;
}

export type TurnOutcome = Outcome &
  (
    | { status: "done" }
    /** Stopped at calls that a person decides about; `suspended` is what `Resumed.messages` has to be. */
    | { status: "approval"; pending: PendingCall[]; suspended: ModelMessage[] }
    | { status: "failed"; failure: Failure }
    | { status: "aborted"; reason: AbortReason }
  );
