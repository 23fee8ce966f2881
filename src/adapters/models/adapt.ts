import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";

type Options = LanguageModelV4CallOptions;

/** A model whose calls are made with changed options. */
export function changeCalls(model: LanguageModelV4, change: (options: Options) => Options | Promise<Options>) {
  return wrapCalls(model, async (options, call) => call(await change(options)));
}

/** A model whose calls, streamed or not, go through `around`. */
export function wrapCalls(
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

/** Adds options of one provider to a call; options that the call has already stay. */
export function withProviderOptions(
  options: Options,
  provider: string,
  added: NonNullable<Options["providerOptions"]>[string],
): Options {
  const own = options.providerOptions;
  return { ...options, providerOptions: { ...own, [provider]: { ...added, ...own?.[provider] } } };
}

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
