import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";

type Options = LanguageModelV4CallOptions;

/** A model whose every call is changed before it is made. */
export function changing(model: LanguageModelV4, change: (options: Options) => Options | Promise<Options>) {
  return calling(model, async (options, call) => call(await change(options)));
}

/** A model with something around its calls, streamed or not. */
export function calling(
  model: LanguageModelV4,
  around: <Result>(options: Options, call: (options: Options) => PromiseLike<Result>) => Promise<Result>,
): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doStream: (options) => around(options, (changed) => model.doStream(changed)),
    doGenerate: (options) => around(options, (changed) => model.doGenerate(changed)),
  };
}

/** Adds options of one provider to a call; what the call brings itself stays. */
export function withProviderOptions(
  options: Options,
  provider: string,
  added: NonNullable<Options["providerOptions"]>[string],
): Options {
  const own = options.providerOptions;
  return { ...options, providerOptions: { ...own, [provider]: { ...added, ...own?.[provider] } } };
}

/** A prompt whose tool calls have other ids: one that a conversation had with another provider may break the rules here. */
export function renameCalls(prompt: LanguageModelV4Prompt, rename: (id: string) => string): LanguageModelV4Prompt {
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
