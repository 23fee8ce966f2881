import type { LanguageModelV4 } from "@ai-sdk/provider";
import { digest, toHex } from "../../core/ids.ts";
import type { ModelSpec } from "../../core/ports.ts";
import { changeCalls, renameCallIds } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/** Mistral's chat completions. */
export async function mistral(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1");
  const { createMistral } = await import("@ai-sdk/mistral");
  return changeCalls(createMistral({ apiKey, baseURL, fetch })(spec.model), async (options) => {
    const ids = new Map<string, string>();
    for (const id of foreignIds(options.prompt)) ids.set(id, toHex(await digest(id)).slice(0, 9));
    return ids.size === 0 ? options : { ...options, prompt: renameCallIds(options.prompt, (id) => ids.get(id) ?? id) };
  });
}

type Prompt = Parameters<LanguageModelV4["doStream"]>[0]["prompt"];

/** The call ids of other providers: Mistral takes ids of nine letters and digits only. */
function foreignIds(prompt: Prompt): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === "assistant" || role === "tool"
      ? content.flatMap((part) =>
          "toolCallId" in part && !/^[a-zA-Z0-9]{9}$/.test(part.toolCallId) ? [part.toolCallId] : [],
        )
      : [],
  );
}
