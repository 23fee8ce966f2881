import type { ModelSpec, StreamingModel } from "../../core/ports.ts";
import { withoutBlanks } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/**
 * Anthropic's Messages API. Without a token limit of the agent the package requests the model's maximum; to a given
 * limit it adds the thinking budget.
 */
export async function anthropic(spec: ModelSpec, fetch: Fetch): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const model = createAnthropic({ apiKey, baseURL, fetch })(spec.model);
  // Thinking models may send only pings for minutes, which show that the connection is alive.
  const providerOptions = { anthropic: { includePings: true } };
  return {
    async doStream(call) {
      try {
        // Models write line breaks before a tool call, but Anthropic refuses messages of blank texts.
        const prompt = withoutBlanks(call.prompt);
        return await model.doStream({ ...call, providerOptions, prompt });
      } catch (error) {
        throw explain(error);
      }
    },
  };
}

/** Replaces the package's message about an unreadable first event, which does not name the problem. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("Expected a normalized Anthropic")) return error;
  return new Error("The provider's stream begins with an event that is not valid JSON or of no known shape", {
    cause: error,
  });
}
