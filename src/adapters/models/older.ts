import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/** Where the conversation of a prompt begins. */
export function conversationStart(prompt: LanguageModelV4Prompt): number {
  const start = prompt.findIndex(({ role }) => role !== "system");
  return start === -1 ? prompt.length : start;
}

/**
 * A prompt without the older half of its conversation, which is cut before what a user says. Null where only the last
 * messages of a user, and what follows them, are left.
 */
export function withoutOlder(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt | null {
  const start = conversationStart(prompt);
  const cuts = prompt.flatMap(({ role }, at) =>
    at > start && role === "user" && prompt[at - 1]?.role !== "user" ? [at] : [],
  );
  const cut = cuts[cuts.length >> 1];
  return cut === undefined ? null : [...prompt.slice(0, start), ...prompt.slice(cut)];
}
