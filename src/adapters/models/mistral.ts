import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { digest, toHex } from "../../core/ids.ts";
import type { ModelCall, ModelSpec, StreamingModel } from "../../core/ports.ts";
import type { Post } from "./post.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/** Mistral's chat completions. */
export async function mistral(spec: ModelSpec, post: Post): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const baseUrl = withVersion(checkAddress(spec), "v1");
  const [{ chatModel }, { mistralRequest }] = await Promise.all([
    import("./chat/model.ts"),
    import("./chat/mistral-request.ts"),
  ]);
  const model = chatModel({ baseUrl, apiKey, post, request: (call) => mistralRequest(spec.model, call) });
  return {
    async doStream(call) {
      const ids = new Map<string, string>();
      for (const id of foreignIds(call.prompt)) ids.set(id, toHex(await digest(id)).slice(0, 9));
      return model.doStream(
        ids.size === 0 ? call : { ...call, prompt: renameCallIds(call.prompt, (id) => ids.get(id) ?? id) },
      );
    },
  };
}

/** The call ids that other providers made: Mistral accepts only ids of nine letters and digits. */
function foreignIds(prompt: ModelCall["prompt"]): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === "assistant" || role === "tool"
      ? content.flatMap((part) =>
          "toolCallId" in part && !/^[a-zA-Z0-9]{9}$/.test(part.toolCallId) ? [part.toolCallId] : [],
        )
      : [],
  );
}

/** Renames the call ids in a prompt, since ids of other providers may break this provider's rules. */
function renameCallIds(prompt: LanguageModelV4Prompt, rename: (id: string) => string): LanguageModelV4Prompt {
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
