import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelCall } from "../../../core/ports.ts";
import { callOf, pictureUrl, resultsOf, resultText, textOf, toolsOf } from "./request.ts";

type Message = LanguageModelV4Prompt[number];

/** The body of a request to Mistral's chat completions, some of whose fields differ from OpenAI's. */
export function mistralRequest(model: string, call: ModelCall): object {
  const { prompt, temperature, maxOutputTokens, reasoning } = call;
  const asked = reasoning !== undefined && reasoning !== "provider-default" && reasoning !== "none";
  return {
    model,
    max_tokens: maxOutputTokens,
    temperature,
    reasoning_effort: asked ? effortOf(model) : undefined,
    messages: prompt.flatMap((message, index) => mistralMessages(message, index === prompt.length - 1)),
    ...toolsOf(call),
    stream: true,
  };
}

/** The reasoning effort nearest to medium. Most models support one effort; some support none, and refuse any. */
function effortOf(model: string): string | undefined {
  if (/^(?:codestral|ministral|voxtral|mistral-code|mistral-large-(?:latest|2512)$)/.test(model)) return undefined;
  if (/^mistral-large-4/.test(model)) return "medium";
  return /^zai-glm-(?:5$|5-3|latest)/.test(model) ? "low" : "high";
}

function mistralMessages(message: Message, last: boolean): object[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [
        {
          role: "user",
          content: message.content.map((part) =>
            part.type === "text"
              ? { type: "text", text: part.text }
              : { type: "image_url", image_url: pictureUrl(part) },
          ),
        },
      ];
    case "assistant": {
      const calls = message.content.filter((part) => part.type === "tool-call");
      return [
        {
          role: "assistant",
          content: assistantContent(message),
          // Whether the model continues its own last message.
          prefix: last ? true : undefined,
          tool_calls: calls.length === 0 ? undefined : calls.map(callOf),
        },
      ];
    }
    case "tool":
      return resultsOf(message).map(({ toolName, toolCallId, output }) => ({
        role: "tool",
        name: toolName,
        tool_call_id: toolCallId,
        content: resultText(output),
      }));
  }
}

/** The content of an assistant's message: a text, or thoughts and texts in their order. */
function assistantContent({ content }: Extract<Message, { role: "assistant" }>): string | object[] {
  if (!content.some(({ type }) => type === "reasoning")) return textOf(content, "text");
  return content.flatMap((part): object[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    if (part.type !== "reasoning") return [];
    return [{ type: "thinking", thinking: [{ type: "text", text: part.text }], closed: true }];
  });
}
