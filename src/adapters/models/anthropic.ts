import type { ModelSpec, StreamingModel } from "../../core/ports.ts";
import { withoutBlanks } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/**
 * Anthropic's messages. For an agent without a limit of tokens the package asks for as many as the model can write; to
 * a limit it adds the budget of thinking.
 */
export async function anthropic(spec: ModelSpec, fetch: Fetch): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const model = createAnthropic({ apiKey, baseURL, fetch })(spec.model);
  // A model that thinks may send nothing but pings for minutes; they show that the connection is alive.
  const providerOptions = { anthropic: { includePings: true } };
  return {
    async doStream(call) {
      try {
        // Models write line breaks before a call of a tool. Anthropic refuses a message whose texts are all blank.
        const prompt = withoutBlanks(call.prompt);
        return await model.doStream({ ...call, providerOptions, prompt });
      } catch (error) {
        throw explain(error);
      }
    },
  };
}

/** Replaces the package's message about a first event that it can't read, which does not say what is wrong. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("Expected a normalized Anthropic")) return error;
  return new Error("The provider's stream begins with an event that is not valid JSON or of no known shape", {
    cause: error,
  });
}
