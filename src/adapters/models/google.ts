import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelSpec } from "../../core/ports.ts";
import { withProviderOptions, wrapCalls } from "./adapt.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/** Gemini, by its developer API. */
export async function google(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV4> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1beta");
  const { createGoogle } = await import("@ai-sdk/google");
  return wrapCalls(createGoogle({ apiKey, baseURL, fetch })(spec.model), async (options, call) => {
    try {
      // The package turns thinking on, but does not ask for the thoughts.
      const changed = withProviderOptions(options, "google", { thinkingConfig: { includeThoughts: true } });
      return await call(options.reasoning === undefined ? options : changed);
    } catch (error) {
      throw withRetryAfter(error);
    }
  });
}

/** Adds the header `retry-after`, in place of which Google has `"retryDelay": "34s"` in the body. */
function withRetryAfter(error: unknown): unknown {
  if (!APICallError.isInstance(error) || error.statusCode !== 429) return error;
  const { responseBody = "" } = error;
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(responseBody)?.[1];
  if (seconds === undefined) return error;
  const { message, url, statusCode, isRetryable, data, cause } = error;
  const responseHeaders = { "retry-after": seconds, ...error.responseHeaders };
  return new APICallError({
    message,
    url,
    requestBodyValues: undefined,
    statusCode,
    responseHeaders,
    responseBody,
    isRetryable,
    data,
    cause,
  });
}
