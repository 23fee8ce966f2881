import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** Renames the call ids in a prompt, since another provider's ids may break this provider's rules. */
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

/** A prompt without the assistant's blank texts, and without messages that then are empty. */
export function withoutBlanks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== "assistant") return [message];
    const content = message.content.filter((part) => part.type !== "text" || part.text.trim() !== "");
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
