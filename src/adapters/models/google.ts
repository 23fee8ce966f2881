import { APICallError } from "@ai-sdk/provider";
import type { ModelSpec, StreamingModel } from "../../core/ports.ts";
import type { Fetch } from "./fetch.ts";
import { checkAddress, requireKey, withVersion } from "./spec.ts";

/** Gemini, through its developer API. */
export async function google(spec: ModelSpec, fetch: Fetch): Promise<StreamingModel> {
  const apiKey = requireKey(spec);
  const baseURL = withVersion(checkAddress(spec), "v1beta");
  const { createGoogle } = await import("@ai-sdk/google");
  const model = createGoogle({ apiKey, baseURL, fetch })(spec.model);
  // The package turns thinking on, but does not request the thoughts themselves.
  const providerOptions = { google: { thinkingConfig: { includeThoughts: true } } };
  return {
    async doStream(call) {
      try {
        return await model.doStream(call.reasoning === undefined ? call : { ...call, providerOptions });
      } catch (error) {
        throw withRetryAfter(error);
      }
    },
  };
}

/** Adds a `retry-after` header, since Google sends `"retryDelay": "34s"` in the body instead. */
function withRetryAfter(error: unknown): unknown {
  if (!APICallError.isInstance(error) || error.statusCode !== 429) return error;
  const { responseBody = "" } = error;
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(responseBody)?.[1];
  if (seconds === undefined) return error;
  const responseHeaders = { "retry-after": seconds, ...error.responseHeaders };
  return new APICallError({ ...error, message: error.message, requestBodyValues: undefined, responseHeaders });
}
