import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSpec } from "../../core/ports.ts";
import { changing, withProviderOptions } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/** Gemini, by its developer API. */
export async function google(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec, "https://generativelanguage.googleapis.com"), "v1beta");
  const { createGoogle } = await import("@ai-sdk/google");
  return changing(createGoogle({ apiKey, baseURL, fetch })(spec.model), (options) =>
    // The package asks for thinking, but not to see it.
    options.reasoning === undefined
      ? options
      : withProviderOptions(options, "google", { thinkingConfig: { includeThoughts: true } }),
  );
}
