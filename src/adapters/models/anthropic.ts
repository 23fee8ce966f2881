import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelSpec, StreamingModel } from "../../core/ports.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/**
 * Anthropic's Messages API. If the agent sets no token limit, the package requests the model's maximum; otherwise it
 * adds the thinking budget to the limit.
 */
export async function anthropic(spec: ModelSpec, fetch: Fetch): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const model = createAnthropic({ apiKey, baseURL, fetch })(spec.model);
  // While a model thinks, Anthropic may send only pings for minutes; they show that the connection is alive.
  const providerOptions = { anthropic: { includePings: true } };
  return {
    async doStream(call) {
      try {
        // Before a tool call, models write line breaks only, but Anthropic refuses messages with blank texts.
        const prompt = withCacheMark(withoutBlanks(call.prompt));
        return await model.doStream({ ...call, providerOptions, prompt });
      } catch (error) {
        throw explain(error);
      }
    },
  };
}

const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Ends the part of the prompt that is the same in each turn with a cache mark. The tools precede it, so they are cached
 * too. Anthropic ignores a mark after a prompt that is too short for its cache.
 */
function withCacheMark(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    const stable = message.role === "system" ? message.providerOptions?.engine?.stable : undefined;
    if (message.role !== "system" || typeof stable !== "number") return [message];
    const [beginning, rest] = [message.content.slice(0, stable), message.content.slice(stable).trimStart()];
    const marked = { role: "system", content: beginning, providerOptions: cached } as const;
    return rest === "" ? [marked] : [marked, { role: "system", content: rest }];
  });
}

/** Replaces the package's message about an unreadable first event, which does not name the problem. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("Expected a normalized Anthropic")) return error;
  return new Error("The provider's stream begins with an event that is not valid JSON or of no known shape", {
    cause: error,
  });
}

/** A prompt without blank texts of the assistant, and without messages that are empty then. */
function withoutBlanks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.flatMap((message): LanguageModelV4Prompt => {
    if (message.role !== "assistant") return [message];
    const content = message.content.filter((part) => part.type !== "text" || part.text.trim() !== "");
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}
