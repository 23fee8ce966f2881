import type { LanguageModelV4FilePart, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Channel } from "../core/channels/channels.ts";
import type { SubjectKey } from "../core/channels/subjects.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { NamedModel } from "../core/models/fallbacks.ts";
import type { Scrub } from "../core/scrub/scrub.ts";
import type { AnsweredStep, TurnModels } from "./models.ts";
import type { StateChanges, TurnState } from "./state.ts";
import type { Usage } from "./usage.ts";

export type ModelMessage = LanguageModelV4Message;
export type { JsonObject, JsonValue };

/** The origin of a turn. */
export interface Origin {
  channel: Channel;
  channelId: string;
  source: "user" | "webhook" | "room" | "scheduled";
  /** 1 for a turn that another agent called: it may not call further agents. */
  depth: 0 | 1;
  userName?: string;
  /** The end user whose memories and budget the turn uses (decisions §5). */
  subject: SubjectKey;
}

export interface Limits {
  maxSteps: number;
  /** The attempts of a model call without output; 3 when absent. */
  attempts?: number;
  /** The longest wait until a model call first responds. */
  connectMs: number;
  /** The longest wait between two parts of a model's stream, and for the first part. */
  silenceMs: number;
  turnMs: number;
  toolMs: number;
}

interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
  /** Ask the model to reason, if it can. */
  thinking: boolean;
}

export interface ToolContext {
  turnId: string;
  /** The id of the request that the turn answers. */
  requestId: string;
  toolCallId: string;
  signal: AbortSignal;
  state: TurnState;
  /** The turn's origin. Each call gets it, since all turns of an agent share its tools. */
  origin: Origin;
  /** Null: nothing of the turn is stored, so a tool may store nothing for it. */
  conversation: { readonly id: string; readonly ref: string } | null;
  /** Adds an event of the call to the turn's events. */
  emit: Tell;
}

export interface Tool {
  /** The canonical name, such as `github:issue`; the model's name for it is the key in `TurnInput.tools`. */
  name: string;
  description: string;
  inputSchema: JsonObject;
  /**
   * `external`: a call may change something outside the engine, so it is made only once. `none`: repeating it is
   * harmless.
   */
  effect: "none" | "external";
  /** Whether the tool gets the secrets in its arguments. Tools that may store their arguments don't. */
  seesSecrets: boolean;
  /** Whether each call needs a person's approval (decisions §7). */
  needsApproval: boolean;
  /** The time limit of a call; absent: the usual one. */
  timeoutMs?: (() => number) | undefined;
  /** Parses the arguments; throws an `Error` whose message tells the model the mistake. */
  validate(args: unknown): unknown;
  execute(args: unknown, context: ToolContext): Promise<JsonValue>;
  /** The text inside a structured result; null when there is none. */
  textOf?(result: JsonValue): string | null;
}

export type HookEvent = "conversation_start" | "message_received" | "response_generated" | "response_sent";

/** A tool call that the operator runs around every reply (decisions §4, "Hooks"). */
export interface Hook {
  id: string;
  event: HookEvent;
  /** The canonical name. */
  toolName: string;
  /** Null: the agent no longer has the tool. */
  tool: Tool | null;
  args: JsonObject;
  /** Whether the hook's text replaces the reply (on `response_generated`). */
  mutates: boolean;
  timeoutMs: number;
}

/** One run of a hook. */
export interface HookExecution {
  hookId: string;
  event: HookEvent;
  toolName: string;
  success: boolean;
  error: string | null;
  durationMs: number;
  args: JsonValue;
  result: JsonValue;
}

/** A tool call that waits for approval. */
export interface PendingCall {
  toolCallId: string;
  /** The name as the model spelled it. */
  modelName: string;
  /** The canonical name. */
  toolName: string;
  args: JsonValue;
}

/** A person's decision about a tool call. */
interface Decision {
  approved: boolean;
  /** Whether nobody decided in time. */
  expired?: boolean;
  reason: string | null;
}

/** The stopped turn that this one continues, with the decisions about its tool calls. */
export interface Continuation {
  /** The model's messages since the user's message, verbatim, with all calls and the results so far. */
  readonly messages: readonly ModelMessage[];
  /** The text that hooks put before the user's message. */
  readonly context?: string;
  /** The model of the messages' reasoning; absent for turns of earlier releases. */
  readonly answeredBy?: NamedModel;
  readonly decided: readonly (PendingCall & Decision)[];
}

/** The whole input of a turn, complete before it starts. Only `state` changes while it runs. */
export interface TurnInput {
  /** Also the id of the assistant's message and of the stream that clients resume. */
  readonly turnId: string;
  readonly requestId: string;
  /** Null: only the turn's row is stored. */
  readonly conversation: { readonly id: string; readonly ref: string; readonly ticket: number } | null;
  readonly agent: { readonly id: string; readonly slug: string; readonly name: string };
  /** The public id of the conversation, stored or not. */
  readonly conversationRef: string;
  readonly origin: Origin;
  readonly models: TurnModels;
  readonly settings: ModelSettings;
  readonly system: string;
  /** The length of the beginning of `system` that is the same in every turn of the agent, in UTF-16 units. */
  readonly stable: number;
  readonly history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  readonly fresh: readonly string[];
  /** Pictures in the user's messages; absent for none. */
  readonly images?: readonly LanguageModelV4FilePart[];
  /** Null: the turn begins with a model call. */
  readonly continued: Continuation | null;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The hooks that apply to this turn, in the order in which they run. */
  readonly hooks: readonly Hook[];
  readonly limits: Limits;
  readonly state: TurnState;
  /** Reserves tokens for one more model call; rejects with an `EngineError` when none are left. Null: no budget. */
  readonly reserve: ((soFar: Consumption, next: NextCall) => Promise<void>) | null;
  /** Removes the agent's secrets from a text. */
  readonly scrub: Scrub;
}

/** `continue`: the model is called again without new messages. */
export type StepType = "initial" | "tool-result" | "continue";

/** Why a call was withheld: a person refused it, nobody decided in time, or nobody can decide in the turn's channel. */
export type Withheld = "refused" | "expired" | "undecidable";

/** The events of a turn, in order. Doors (the callers of turns) and observers see only these. */
export type TurnEvent =
  | { type: "hook-execution"; execution: HookExecution }
  | { type: "step-start"; index: number; stepType: StepType }
  /** A model call failed before any output. The next attempt starts after the wait. */
  | { type: "model-retry"; index: number; model: NamedModel; attempt: number; failure: Failure; waitMs: number }
  /** A model failed before any output of the step, or rests (`failure` null): the next one is called. */
  | { type: "model-fallback"; index: number; from: NamedModel; to: NamedModel; failure: Failure | null }
  /** Reasoning or a tool's input began: nothing to show yet, but a disconnect no longer cancels the turn. */
  | { type: "produced" }
  | { type: "reasoning-delta"; text: string }
  | { type: "text-delta"; text: string }
  | { type: "tool-call"; id: string; name: string; args: JsonValue }
  | {
      type: "tool-result";
      id: string;
      name: string;
      ok: boolean;
      durationMs: number;
      result: JsonValue;
      /** Why the call was withheld; absent for a call that was made or can't be made. */
      withheld?: Withheld;
    }
  /** The turn stops at a call that needs approval. */
  | { type: "approval-request"; id: string; name: string; args: JsonValue }
  /** Another agent is called, and has answered. */
  | { type: "handoff"; phase: "start"; id: string; agent: string; conversationId: string }
  | {
      type: "handoff";
      phase: "end";
      id: string;
      agent: string;
      conversationId: string;
      ok: boolean;
      durationMs: number;
    }
  | { type: "step-finish"; index: number; finishReason: string; usage: Usage };

/** Receives the events of a turn as they happen. Must not throw. */
export type Tell = (event: TurnEvent) => void;

/** A step in its stored and public form (decisions §5). */
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

/** `superseded`: newer messages replaced the turn, and nothing of it is stored. */
export type AbortReason = "disconnect" | "stop" | "shutdown" | "lease-lost" | "superseded";

/** Why a model call failed, without the provider's text. */
type FailureCode = "provider-failed" | "provider-timeout" | "rate-limited" | "unavailable" | "too-large" | "internal";

export interface Failure {
  code: FailureCode;
  /** The engine's message for the caller. */
  message: string;
  /** Advice for a person who tries the agent in the playground, also about the engine's own errors. */
  hint?: string;
  /** The provider's error, for the log. */
  cause: unknown;
  retryAfterSeconds?: number;
}

/** The tokens of model calls, as far as the provider reported them. */
export interface Consumption {
  usage: Usage;
  /** The models of the steps that have output or tokens. */
  answered: AnsweredStep[];
  /** Prompt tokens of the first call; 0 when the provider did not report them. */
  contextTokens: number;
  /** The number of successful calls without reported tokens. */
  uncountedCalls: number;
  /** The output of the uncounted calls, and the turn's additions to their prompts, in UTF-16 units. */
  uncountedLength: number;
}

/** The size of one more model call. */
export interface NextCall {
  /** Tokens of the last call's prompt and output; 0 when the provider did not report them. */
  countedTokens: number;
  /** The length added to the prompt after that call, or after the turn's first prompt, in UTF-16 units. */
  length: number;
}

interface Outcome extends Consumption {
  /** The text of all steps, in order (decisions §5, "Reply"). */
  text: string;
  reasoning: string;
  steps: Step[];
  /** The provider's own messages of this turn, verbatim. Each tool call in them has its result. */
  messages: ModelMessage[];
  /** Null: unchanged. */
  state: StateChanges | null;
  hooks: HookExecution[];
  /** The hook whose text is the reply; null when the reply is the model's own. */
  replacedBy: string | null;
  /** The tool calls that have a result, whether they succeeded, and why one was withheld. */
  calls: { toolCallId: string; toolName: string; ok: boolean; durationMs: number; withheld?: Withheld }[];
  /** Whether the model produced text, reasoning or the beginning of a tool call. */
  produced: boolean;
  /** Milliseconds from the start of the turn to its first output. */
  firstOutputMs: number | null;
  durationMs: number;
}

export type TurnOutcome = Outcome &
  (
    | { status: "done" }
    /** The turn waits for approval of calls; `suspended` and `context` are the input of `Continuation`. */
    | { status: "approval"; pending: PendingCall[]; suspended: ModelMessage[]; context: string | null }
    | { status: "failed"; failure: Failure }
    | { status: "aborted"; reason: AbortReason }
  );
