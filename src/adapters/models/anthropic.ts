import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSpec } from "../../core/ports.ts";
import { calling, renameCalls, withProviderOptions } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/**
 * Anthropic's messages. Without a limit of the agent's the package asks for all the tokens that the model can write, and
 * adds the budget of thinking to a limit that is there.
 */
export async function anthropic(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec, "https://api.anthropic.com"), "v1");
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  return calling(createAnthropic({ apiKey, baseURL, fetch })(spec.model), async (options, call) => {
    // A model may think for minutes and send nothing but pings, which tell that it is alive.
    const changed = withProviderOptions(options, "anthropic", { includePings: true });
    try {
      return await call({ ...changed, prompt: renameCalls(options.prompt, toCallId) });
    } catch (error) {
      throw explain(error);
    }
  });
}

/** Anthropic refuses an id with any other character. */
function toCallId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** The package's word for a first event that it can't read says nothing about it. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith("Expected a normalized Anthropic")) return error;
  return new Error("The provider's stream begins with an event that is not valid JSON or of no known shape", {
    cause: error,
  });
}
