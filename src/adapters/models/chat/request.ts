import {
  type LanguageModelV4FilePart,
  type LanguageModelV4Prompt,
  type LanguageModelV4ToolCallPart,
  type LanguageModelV4ToolResultPart,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { convertToBase64 } from "@ai-sdk/provider-utils";
import { isObject } from "../../../core/json.ts";
import type { ModelCall } from "../../../core/ports.ts";
import type { ReducedCall } from "../removable-parts.ts";

type Message = LanguageModelV4Prompt[number];
type Assistant = Extract<Message, { role: "assistant" }>;
type User = Extract<Message, { role: "user" }>;

/** The body of a chat-completions request, as OpenAI defines it and most servers accept it. */
export function chatRequest(model: string, call: ReducedCall): object {
  const { prompt, temperature, maxOutputTokens, reasoning, uncounted } = call;
  return {
    model,
    ...limitOf(model, maxOutputTokens),
    temperature,
    reasoning_effort: reasoning === "provider-default" ? undefined : reasoning,
    messages: prompt.flatMap(chatMessages),
    ...toolsOf(call),
    stream: true,
    // Without this option, most streams contain no token counts.
    stream_options: uncounted ? undefined : { include_usage: true },
  };
}

/** OpenAI's reasoning models, even behind a gateway, accept the token limit only by its newer name. */
function limitOf(model: string, tokens: number | undefined): object {
  const reasons = /^(?:openai\/)?(?:o\d|gpt-(?:[5-9]|\d\d))/.test(model);
  return reasons ? { max_completion_tokens: tokens } : { max_tokens: tokens };
}

function chatMessages(message: Message): object[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: userContent(message) }];
    case "assistant":
      return [assistantMessage(message)];
    case "tool":
      return resultsOf(message).map(({ toolCallId, output }) => ({
        role: "tool",
        tool_call_id: toolCallId,
        content: resultText(output),
      }));
  }
}

/** Without pictures the content is a plain text, since some servers accept nothing else. */
function userContent({ content }: User): string | object[] {
  const [first] = content;
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: pictureUrl(part) } },
  );
}

function assistantMessage({ content }: Assistant): object {
  const text = textOf(content, "text");
  const calls = content.filter((part) => part.type === "tool-call");
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    reasoning_content: textOf(content, "reasoning") || undefined,
    reasoning_details: detailsOf(calls),
    tool_calls: calls.length === 0 ? undefined : calls.map((call) => ({ ...callOf(call), ...signatureOf(call) })),
  };
}

/** Gemini, in chat completions too, refuses its own calls when they are sent back without their signature. */
function signatureOf({ providerOptions: own }: LanguageModelV4ToolCallPart): object {
  const signature = own?.openaiCompatible?.thoughtSignature ?? own?.google?.thoughtSignature;
  return signature ? { extra_content: { google: { thought_signature: String(signature) } } } : {};
}

/** OpenRouter passes Gemini's signatures on in these details, each with the id of its call. */
function detailsOf(calls: readonly LanguageModelV4ToolCallPart[]): object[] | undefined {
  const details = calls.flatMap(({ toolCallId, providerOptions: own }) => {
    const detail = own?.openaiCompatible?.reasoningDetail;
    return isObject(detail) ? [{ ...detail, id: toolCallId }] : [];
  });
  return details.length === 0 ? undefined : details;
}

/** The texts of one type in an assistant's message, joined. */
export function textOf(content: Assistant["content"], type: "text" | "reasoning"): string {
  return content.map((part) => (part.type === type ? part.text : "")).join("");
}

/** A tool call in an assistant's message. */
export function callOf({ toolCallId, toolName, input }: LanguageModelV4ToolCallPart): object {
  return { id: toolCallId, type: "function", function: { name: toolName, arguments: JSON.stringify(input) } };
}

export function resultsOf({ content }: Extract<Message, { role: "tool" }>): LanguageModelV4ToolResultPart[] {
  return content.filter((part) => part.type === "tool-result");
}

/** A tool's result as a text for the model. */
export function resultText(output: LanguageModelV4ToolResultPart["output"]): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "execution-denied":
      return output.reason ?? "Tool call execution denied.";
    default:
      return JSON.stringify(output.value);
  }
}

/** A picture as a `data:` address. Throws for any other file, which these servers can't read. */
export function pictureUrl({ mediaType, data }: LanguageModelV4FilePart): string {
  if (mediaType.startsWith("image/")) {
    if (data.type === "url") return data.url.toString();
    if (data.type === "data") return `data:${mediaType};base64,${convertToBase64(data.data)}`;
  }
  throw new UnsupportedFunctionalityError({ functionality: `file part media type ${mediaType}` });
}

/** The tools of a model call, and whether they may be called. */
export function toolsOf({ tools = [], toolChoice }: ModelCall): object {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      function: { name, description, parameters: inputSchema },
    })),
    tool_choice: toolChoice?.type,
  };
}
