import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { randomHex } from "../core/ids.ts";
import { isObject } from "../core/json.ts";
import { shortened, thought } from "../core/ports.ts";
import { scrubJson } from "../core/scrub/json.ts";
import type { Scrub, ScrubStream } from "../core/scrub/scrub.ts";
import { GrowingText } from "../core/text/growing-text.ts";
import { clip } from "../core/text/text.ts";
import { parseArguments } from "./arguments.ts";
import type { JsonValue, ModelMessage, PendingCall, StepType, TurnEvent, TurnInput } from "./types.ts";
import { noUsage, readUsage, type Usage } from "./usage.ts";

interface Block {
  type: "text" | "reasoning";
  text: string;
  providerOptions?: SharedV4ProviderMetadata;
}

export interface ToolCall {
  id: string;
  /** The name as the model spelled it. */
  name: string;
  /** The canonical name, used everywhere except for the model. */
  tool: string;
  args: JsonValue;
  /** The arguments without secrets, used everywhere except in the tool. */
  shown: JsonValue;
  /** The error for the model when the call's arguments are no JSON object. */
  malformed?: string;
  providerOptions?: SharedV4ProviderMetadata;
}

interface OpenBlock {
  /** Its text is updated when somebody reads it. */
  block: Block;
  said: GrowingText;
  clean: ScrubStream;
}

/** The texts of a turn, each scrubbed as one stream: a secret may be split over two deltas, two blocks or two steps. */
export type Speech = Readonly<Record<Block["type"], ScrubStream>>;

export const speech = (scrub: Scrub): Speech => ({ text: scrub.stream(), reasoning: scrub.stream() });

type AssistantPart = Extract<ModelMessage, { role: "assistant" }>["content"][number];

interface Finish {
  reason: string;
  /** The finish reason in the provider's words. */
  raw: string | undefined;
  /** False: the stream ended without a finish reason from the provider. */
  stated: boolean;
}

type Part<Type extends LanguageModelV4StreamPart["type"]> = Extract<LanguageModelV4StreamPart, { type: Type }>;

/** The longest output of one model call: more than models produce, and little enough to hold for many turns. */
const longestStep = 4_000_000;

/** The longest tool call id, in characters; providers' own ids are far shorter. */
const longestId = 256;

/** The longest name of an unknown tool that is stored, shown and counted; real tools' names are shorter. */
export const longestCalledName = 256;

type Input = Pick<TurnInput, "scrub" | "tools">;

/** Folds the parts of one model call, and returns the event of each part. */
export class StepFold {
  readonly index: number;
  readonly stepType: StepType;
  readonly calls: ToolCall[] = [];
  /** Whether the provider was called. */
  asked = false;
  /** Whether text, reasoning or a tool call began. */
  produced = false;
  /** Whether the model got only a part of the conversation. */
  shortened = false;
  /** Whether output arrived: a repeated call could return something else. */
  said = false;
  finish: Finish | null = null;
  usage: Usage = noUsage;
  readonly #said: (Block | ToolCall)[] = [];
  #length = 0;
  /** The length of all other parts, in UTF-16 units: tool calls, and provider data that is sent back with them. */
  #lengthBeside = 0;
  readonly #open = new Map<string, OpenBlock>();
  readonly #input: Input;
  readonly #speech: Speech;

  constructor(index: number, stepType: StepType, input: Input, spoken = speech(input.scrub)) {
    this.index = index;
    this.stepType = stepType;
    this.#input = input;
    this.#speech = spoken;
  }

  /** The length of the model's text, in UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  get text(): string {
    return this.#join("text");
  }

  get reasoning(): string {
    return this.#join("reasoning");
  }

  /** Returns the event of a part, or null for none. Throws for an `error` part. */
  take(part: LanguageModelV4StreamPart): TurnEvent | null {
    switch (part.type) {
      case "stream-start":
        this.shortened ||= part.warnings.includes(shortened);
        return null;
      case "text-delta":
      case "reasoning-delta":
        return this.#delta(part);
      case "text-start":
        this.#start("text", part);
        return null;
      case "reasoning-start":
        this.#start("reasoning", part);
        return this.#produce();
      case "text-end":
      case "reasoning-end":
        return this.#close(part);
      case "tool-input-start":
        return this.#produce();
      case "tool-input-delta":
        this.#lengthBeside = bounded(this.#lengthBeside + part.delta.length);
        return null;
      case "tool-call":
        return this.#call(part);
      case "finish":
        return this.#finish(part);
      case "error":
        throw part.error;
      default:
        return null;
    }
  }

  /** The message for the transcript, in the model's order: blocks verbatim, and the calls that `answered` accepts. */
  message(answered: (call: ToolCall) => boolean): ModelMessage | null {
    this.#fill();
    const content = this.#said.flatMap((part): AssistantPart[] => {
      if ("text" in part) return part.text !== "" || part.providerOptions ? [part] : [];
      return answered(part) ? [replayed(part)] : [];
    });
    return content.length === 0 ? null : { role: "assistant", content };
  }

  /** Takes over the calls of the stopped turn, instead of a model call. */
  takeDecided(calls: readonly PendingCall[]): void {
    this.produced = true;
    this.said = true;
    for (const { toolCallId, modelName, toolName, args } of calls) {
      const call = { id: toolCallId, name: modelName, tool: toolName, args, shown: args };
      this.calls.push(call);
      this.#said.push(call);
    }
  }

  #start(
    type: Block["type"],
    { id, providerMetadata }: { id: string; providerMetadata?: SharedV4ProviderMetadata },
  ): OpenBlock {
    const block: Block = { type, text: "", ...(providerMetadata ? { providerOptions: providerMetadata } : {}) };
    // Blocks that are open at the same time are scrubbed separately, each by its own stream.
    const alone = ![...this.#open.values()].some((other) => other.block.type === type);
    const open = { block, said: new GrowingText(), clean: alone ? this.#speech[type] : this.#input.scrub.stream() };
    this.#said.push(block);
    this.#open.set(`${type}:${id}`, open);
    return open;
  }

  /** Notes that output began which has no text to show. */
  #produce(): TurnEvent {
    this.produced = true;
    return { type: "produced" };
  }

  #delta(part: Part<"text-delta" | "reasoning-delta">): TurnEvent | null {
    const type = part.type === "text-delta" ? "text" : "reasoning";
    const { block, said, clean } = this.#open.get(`${type}:${part.id}`) ?? this.#start(type, part);
    if (part.providerMetadata) merge(block, part.providerMetadata);
    if (part.delta === "") return null;
    this.#hear(part.delta.length);
    const text = clean.push(part.delta);
    if (text === "") return this.#produce();
    this.produced = true;
    said.add(text);
    return { type: part.type, text };
  }

  #close(part: Part<"text-end" | "reasoning-end">): TurnEvent | null {
    const type = part.type === "text-end" ? "text" : "reasoning";
    const open = this.#open.get(`${type}:${part.id}`);
    if (!open) return null;
    const text = sayRest(open);
    if (part.providerMetadata === thought) open.block.type = "reasoning";
    // A reasoning block's signature comes with its end.
    else if (part.providerMetadata) merge(open.block, part.providerMetadata);
    this.#open.delete(`${type}:${part.id}`);
    return text === "" ? null : { type: `${open.block.type}-delta`, text };
  }

  #call({ toolCallId, toolName, input, providerMetadata }: Part<"tool-call">): TurnEvent {
    this.produced = true;
    this.#hear(input.length);
    this.#lengthBeside = bounded(this.#lengthBeside + JSON.stringify(providerMetadata ?? "").length);
    const { args, ...problem } = parseArguments(input);
    const { scrub, tools } = this.#input;
    const known = tools.get(toolName);
    const tool = known?.name ?? clip(scrub(toolName), longestCalledName);
    // Some models give every call the same id, and an approval of one call must not reach another.
    const taken = known?.needsApproval || this.calls.some(({ id }) => id === toolCallId);
    const odd = toolCallId.length > longestId || scrub(toolCallId) !== toolCallId;
    const id = taken || odd ? `call_${randomHex(24)}` : toolCallId;
    const call: ToolCall = { id, name: toolName, tool, args, shown: scrubJson(args, scrub), ...problem };
    if (providerMetadata) call.providerOptions = providerMetadata;
    this.calls.push(call);
    this.#said.push(call);
    return { type: "tool-call", id: call.id, name: call.tool, args: call.shown };
  }

  /** Finishes the step, and ends the blocks that the provider left open. */
  #finish({ finishReason, usage }: Part<"finish">): TurnEvent | null {
    this.finish = {
      reason: finishReason.unified,
      raw: finishReason.raw,
      stated: finishReason.raw !== undefined || !["other", "interrupted"].includes(finishReason.unified),
    };
    this.usage = readUsage(usage);
    let text = "";
    for (const open of this.#open.values()) {
      const rest = sayRest(open);
      if (open.block.type === "text") text += rest;
    }
    this.#open.clear();
    return text === "" ? null : { type: "text-delta", text };
  }

  #hear(length: number): void {
    this.said = true;
    this.#length = bounded(this.#length + length);
  }

  #fill(): void {
    for (const { block, said } of this.#open.values()) block.text = said.text;
  }

  #join(type: Block["type"]): string {
    this.#fill();
    let text = "";
    for (const part of this.#said) if ("text" in part && part.type === type) text += part.text;
    return text;
  }
}

/** Returns the length; throws when it exceeds `longestStep`. */
function bounded(length: number): number {
  if (length > longestStep) throw new Error(`The provider said more than ${longestStep} characters in one step`);
  return length;
}

/** Returns the end of a block's text, which the scrubber has held back. */
function sayRest({ block, said, clean }: OpenBlock): string {
  const text = clean.flush();
  said.add(text);
  block.text = said.text;
  return text;
}

function merge(block: Block, metadata: SharedV4ProviderMetadata): void {
  const merged: SharedV4ProviderMetadata = { ...block.providerOptions };
  for (const [provider, values] of Object.entries(metadata)) merged[provider] = { ...merged[provider], ...values };
  block.providerOptions = merged;
}

/** The call for the model's transcript. Providers refuse a whole request when a call's arguments are no object. */
function replayed({ id, name, shown, providerOptions }: ToolCall): AssistantPart {
  return {
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: isObject(shown) ? shown : {},
    ...(providerOptions ? { providerOptions } : {}),
  };
}
