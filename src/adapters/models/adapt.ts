import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** Gives the tool calls of a prompt other ids: an id from another provider may break the rules of this one. */
export function renameCallIds(prompt: LanguageModelV4Prompt, rename: (id: string) => string): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role === "assistant") {
      const content = message.content.map((part) =>
        part.type === "tool-call" || part.type === "tool-result"
          ? { ...part, toolCallId: rename(part.toolCallId) }
          : part,
      );
      return { ...message, content };
    }
    if (message.role !== "tool") return message;
    const content = message.content.map((part) =>
      part.type === "tool-result" ? { ...part, toolCallId: rename(part.toolCallId) } : part,
    );
    return { ...message, content };
  });
}

/** A prompt without blank texts of the assistant, and without messages of nothing else. */
export function withoutBlanks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== "assistant") return [message];
    const content = message.content.filter((part) => part.type !== "text" || part.text.trim() !== "");
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
