import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { ModelCall } from "../core/ports.ts";
import type { ModelMessage, TurnInput } from "./types.ts";

/** The messages of a running turn that the model gets. */
export interface SoFar {
  /** Text before the user's message; null for none. */
  context: string | null;
  prompt: readonly ModelMessage[];
  /** Whether the model may be asked to reason; true when absent. */
  mayReason?: boolean;
}

/**
 * Whether the model may call tools (`auto`), gets them but may not call them (`none`), or gets no tools (`hidden`):
 * some servers heed only `hidden`.
 */
export type ToolUse = "auto" | "none" | "hidden";

/** The options of the next model call. */
export function callOptions(
  input: TurnInput,
  { context, prompt, mayReason = true }: SoFar,
  toolUse: ToolUse,
): ModelCall {
  const { settings } = input;
  return {
    prompt: [
      ...(input.system === "" ? [] : [systemMessage(input)]),
      ...input.history,
      ...(context === null ? [] : [userMessage(context)]),
      ...freshMessages(input),
      ...prompt,
    ],
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.maxOutputTokens === undefined ? {} : { maxOutputTokens: settings.maxOutputTokens }),
    ...(settings.thinking && mayReason ? { reasoning: "medium" as const } : {}),
    ...(input.tools.size === 0 || toolUse === "hidden"
      ? {}
      : { tools: describeTools(input), toolChoice: { type: toolUse } }),
  };
}

/** Tells adapters which beginning of the prompt a provider may cache. */
function systemMessage({ system, stable }: TurnInput): ModelMessage {
  return { role: "system", content: system, ...(stable > 0 ? { providerOptions: { engine: { stable } } } : {}) };
}

/** Puts all pictures into the last message: a model does not need to know to which message they belong. */
function freshMessages({ fresh, images = [] }: TurnInput): ModelMessage[] {
  return fresh.map((text, index) => userMessage(text, index === fresh.length - 1 ? images : []));
}

function userMessage(text: string, images: TurnInput["images"] = []): ModelMessage {
  return { role: "user", content: [{ type: "text", text }, ...images] };
}

function describeTools({ tools }: TurnInput): LanguageModelV4FunctionTool[] {
  return [...tools].map(([name, { description, inputSchema }]) => ({
    type: "function",
    name,
    description,
    inputSchema,
  }));
}

/** A message without its reasoning and signatures, which providers accept only from the same model in the same turn. */
export function withoutReasoning(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant") return message;
  const content = message.content
    .filter((part) => part.type === "text" || part.type === "tool-call")
    .map(({ providerOptions: _, ...part }) => part);
  return { role: "assistant", content };
}

export function hasContent({ content }: ModelMessage): boolean {
  return content.length > 0;
}
