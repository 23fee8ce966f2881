import type { LanguageModelV4FilePart, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Channel } from "../core/channels/channels.ts";
import type { SubjectKey } from "../core/channels/subjects.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { StreamingModel } from "../core/ports.ts";
import type { Scrub } from "../core/scrub/scrub.ts";
import type { StateChanges, TurnState } from "./state.ts";

export type ModelMessage = LanguageModelV4Message;
export type { JsonObject, JsonValue };

/** The origin of a turn. */
export interface Origin {
  channel: Channel;
  channelId: string;
  source: "user" | "webhook" | "room" | "scheduled";
  /** 1 inside an agent-to-agent call, which may not call on. */
  depth: 0 | 1;
  userName?: string;
  /** The key of the end user whose memories and budget it touches (decisions §5). */
  subject: SubjectKey;
}

export interface Limits {
  maxSteps: number;
  /** The attempts of a model call that produces nothing, 3 when absent. */
  attempts?: number;
  /** Until a model call answers at all. */
  connectMs: number;
  /** Between two parts of a model's stream, the first included. */
  silenceMs: number;
  turnMs: number;
  toolMs: number;
}

interface ModelSettings {
  temperature?: number;
  maxOutputTokens?: number;
  /** Ask the model to reason, where it can. */
  thinking: boolean;
}

export interface ToolContext {
  turnId: string;
  /** The id of the request that the turn answers. */
  requestId: string;
  toolCallId: string;
  signal: AbortSignal;
  state: TurnState;
  /** The origin of the turn: tools are made once for all turns of an agent. */
  origin: Origin;
  /** Null: nothing of the turn is stored, and nothing may be on its behalf. */
  conversation: { readonly id: string; readonly ref: string } | null;
  /** Adds an event of the call to the turn's events. */
  emit: Tell;
}

export interface Tool {
  /** Canonical name, such as `github:issue`; the model sees the key in `TurnInput.tools`. */
  name: string;
  description: string;
  inputSchema: JsonObject;
  /**
   * `external`: a call may change something outside the engine, so it is made only once. `none`: a repeated call does no
   * harm.
   */
  effect: "none" | "external";
  /** Whether the tool gets its arguments unscrubbed; a tool that may store them gets them without secrets. */
  seesSecrets: boolean;
  /** A person decides about each call before it is made (decisions §7). */
  needsApproval: boolean;
  /** The time that a call may take, where it differs from other tools. */
  timeoutMs?: (() => number) | undefined;
  /** The arguments as the tool wants them; throws an `Error` whose message tells the model what is wrong. */
  validate(args: unknown): unknown;
  execute(args: unknown, context: ToolContext): Promise<JsonValue>;
  /** The text in a result that is no text as a whole; null when there is none. */
  textOf?(result: JsonValue): string | null;
}

export type HookEvent = "conversation_start" | "message_received" | "response_generated" | "response_sent";

/** Something that an operator has done around every reply (decisions §4, "Hooks"). */
export interface Hook {
  id: string;
  event: HookEvent;
  /** Canonical. */
  toolName: string;
  /** Null: the agent can't have it any more. */
  tool: Tool | null;
  args: JsonObject;
  /** On `response_generated`: its text becomes the reply. */
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

/** A call that a person decides about before it is made. */
export interface PendingCall {
  toolCallId: string;
  /** As the model spelled it. */
  modelName: string;
  /** Canonical. */
  toolName: string;
  args: JsonValue;
}

/** A person's decision about a call that waited. */
interface Decision {
  approved: boolean;
  /** The time to decide passed. */
  expired?: boolean;
  reason: string | null;
}

/** The stopped turn that this one continues, with the decisions about its waiting tool calls. */
export interface Continued {
  /** The model's own messages since the user's, verbatim, with all calls and the results there are. */
  readonly messages: readonly ModelMessage[];
  /** Text of hooks that the model read before the user's message. */
  readonly context?: string;
  readonly decided: readonly (PendingCall & Decision)[];
}

/** All that a turn needs, complete before it starts. Only `state` changes while it runs. */
export interface TurnInput {
  /** Also the id of the assistant's message, and what a stream is resumed by. */
  readonly turnId: string;
  readonly requestId: string;
  /** Null: nothing of the turn but its row is stored. */
  readonly conversation: { readonly id: string; readonly ref: string; readonly ticket: number } | null;
  readonly agent: { readonly id: string; readonly slug: string; readonly name: string };
  /** The public id of the conversation, stored or not. */
  readonly conversationRef: string;
  readonly origin: Origin;
  readonly model: StreamingModel;
  readonly settings: ModelSettings;
  readonly system: string;
  readonly history: readonly ModelMessage[];
  /** The new messages of the user, in order. */
  readonly fresh: readonly string[];
  /** Pictures that came with them; absent for none. */
  readonly images?: readonly LanguageModelV4FilePart[];
  /** Null: the turn begins with the model. */
  readonly continued: Continued | null;
  readonly tools: ReadonlyMap<string, Tool>;
  /** In the order in which they run; those of other events and of a conversation that began before are left out. */
  readonly hooks: readonly Hook[];
  readonly limits: Limits;
  readonly state: TurnState;
  /** Reserves tokens for one more model call; rejects with an `EngineError` when there are none. Null: no budget. */
  readonly reserve: ((soFar: Consumption, next: NextCall) => Promise<void>) | null;
  /** Blots the agent's secrets out of a text. */
  readonly scrub: Scrub;
}

/** `continue`: the model is called again, and reads nothing new. */
export type StepType = "initial" | "tool-result" | "continue";

export interface Usage {
  promptTokens: number;
  completionTokens: number;
}

/** Why a call may not be made: a person refused it, nobody decided in time, or nobody can decide where it came up. */
export type Withheld = "refused" | "expired" | "undecidable";

/** The events of a turn, in order: doors and observers consume nothing else. */
export type TurnEvent =
  | { type: "hook-execution"; execution: HookExecution }
  | { type: "step-start"; index: number; stepType: StepType }
  /** An attempt at a model call failed before anything came of it; the next one follows after the wait. */
  | { type: "model-retry"; index: number; attempt: number; failure: Failure; waitMs: number }
  /** Reasoning or a tool's input began: nothing to show, but a disconnect no longer cancels the turn. */
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
      /** Why the call was not made; absent for one that was, and for one that can't be made. */
      withheld?: Withheld;
    }
  /** The turn stops at a call that a person has to decide about. */
  | { type: "approval-request"; id: string; name: string; args: JsonValue }
  /** Another agent was asked, and answered. */
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

/** Hears the events of a turn as they happen. Must not throw. */
export type Tell = (event: TurnEvent) => void;

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

/** `superseded`: newer messages take the place of the turn, and nothing of it is stored. */
export type AbortReason = "disconnect" | "stop" | "shutdown" | "lease-lost" | "superseded";

/** Why a model call ended badly, without a word of the provider's. */
type FailureCode = "provider-failed" | "provider-timeout" | "rate-limited" | "unavailable" | "too-large" | "internal";

export interface Failure {
  code: FailureCode;
  /** For the caller; ours. */
  message: string;
  /** Advice to a person who tries the agent in the playground, also for our own errors. Absent where there is none. */
  hint?: string;
  /** For the log; the provider's. */
  cause: unknown;
  retryAfterSeconds?: number;
}

/** The tokens that model calls took, as far as their provider said. */
export interface Consumption {
  usage: Usage;
  /** Prompt tokens of the first call; 0 when the provider did not say. */
  contextTokens: number;
  /** Calls that did not fail and whose tokens the provider did not tell. */
  uncountedCalls: number;
  /** The output of these calls, and what the turn had added to their prompts before, in UTF-16 units. */
  uncountedLength: number;
}

/** The size of one more model call. */
export interface NextCall {
  /** Tokens of the last call's prompt and output; 0 when the provider did not say. */
  countedTokens: number;
  /** The length added to the prompt after that call, or after the turn's first prompt, in UTF-16 units. */
  length: number;
}

interface Outcome extends Consumption {
  /** The text of all steps, in order (decisions §5, "Reply"). */
  text: string;
  reasoning: string;
  steps: Step[];
  /** The provider's own messages of this turn, verbatim; each tool call in them has its result. */
  messages: ModelMessage[];
  /** Null: as it was. */
  state: StateChanges | null;
  hooks: HookExecution[];
  /** The hook whose text is the reply; null when the reply is the model's own. */
  replacedBy: string | null;
  /** The calls that were answered, whether they went well, and why one was not made; absent for one that was. */
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
    /** The turn stopped at calls that a person decides about; `suspended` and `context` are what `Continued` needs. */
    | { status: "approval"; pending: PendingCall[]; suspended: ModelMessage[]; context: string | null }
    | { status: "failed"; failure: Failure }
    | { status: "aborted"; reason: AbortReason }
  );
