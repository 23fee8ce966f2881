import { APICallError } from "@ai-sdk/provider";
import { EngineError, ProviderSetupError } from "../core/errors.ts";
import { explainProvider } from "../core/models/provider-failure.ts";
import type { Failure } from "./types.ts";

/**
 * The longest wait inside a turn, in milliseconds. A longer `Retry-After` of the provider makes the turn fail with that
 * header.
 */
const longestWaitMs = 10_000;

/** The `Retry-After` for a provider's 429 without one, in seconds. */
const defaultRetrySeconds = 5;
const longestRetrySeconds = 86_400;

/** Thrown when a turn ended without an answer. The message is shown to the caller. */
export class NoAnswer extends Error {}

/** Thrown when a time limit of the engine passed. The message is shown to the caller. */
export class OutOfTime extends Error {}

/** Thrown when the provider's filter removed the whole reply. The message is for the log. */
export class BlockedReply extends Error {}

/** Classifies an error for the caller. The provider's own message stays in `cause`, for the log. */
export function classifyFailure(error: unknown): Failure {
  if (error instanceof EngineError && (error.code === "unavailable" || error.code === "too-large")) {
    return { code: error.code, message: error.message, cause: error };
  }
  if (error instanceof EngineError && error.code === "rate-limited") {
    const { message, retryAfterSeconds } = error;
    return { code: "rate-limited", message, cause: error, ...(retryAfterSeconds ? { retryAfterSeconds } : {}) };
  }
  if (error instanceof BlockedReply) {
    return { code: "provider-failed", message: "The model provider blocked this prompt or its reply", cause: error };
  }
  if (error instanceof NoAnswer) return { code: "provider-failed", message: error.message, cause: error };
  if (error instanceof OutOfTime) return { code: "provider-timeout", message: error.message, cause: error };
  if (isOurs(error)) return { code: "internal", message: "Internal server error", cause: error };
  const status = statusOf(error);
  const hint = hintFor(error, status);
  if (status === 429 && !isOutOfQuota(error)) {
    const wait = retryAfterMs(error);
    const seconds = wait === null ? defaultRetrySeconds : Math.max(1, Math.ceil(wait / 1000));
    return {
      code: "rate-limited",
      message: "Model provider is rate limited",
      cause: error,
      ...hint,
      retryAfterSeconds: Math.min(seconds, longestRetrySeconds),
    };
  }
  if (status === 408 || status === 504 || isTimeout(error)) {
    return { code: "provider-timeout", message: "Model provider timed out", cause: error, ...hint };
  }
  return { code: "provider-failed", message: "Model provider error", cause: error, ...hint };
}

/** A hint for the operator about an error; empty for an unknown error. */
function hintFor(error: unknown, status: number | undefined): Pick<Failure, "hint"> {
  const quota = isOutOfQuota(error) ? "insufficient_quota" : "";
  if (APICallError.isInstance(error)) {
    const { message, responseBody = "", statusCode, cause } = error;
    // A stream that broke has the status of its successful start, which does not describe the error.
    const broke = statusCode !== undefined && statusCode < 300 && cause !== undefined;
    const said = `${quota} ${message} ${responseBody}`;
    return { hint: explainProvider({ status: broke ? undefined : statusCode, said, error }) };
  }
  if (status !== undefined)
    return { hint: explainProvider({ status, said: quota || String(fieldsOf(error)?.message) }) };
  if (error instanceof ProviderSetupError || isNetworkError(error)) return { hint: explainProvider({ error }) };
  return {};
}

/** Whether the same call may succeed a moment later. */
export function isRetryable(error: unknown): boolean {
  if (isOutOfQuota(error) || (retryAfterMs(error) ?? 0) > longestWaitMs) return false;
  const status = statusOf(error);
  if (status !== undefined) return status === 408 || status === 409 || status === 429 || status >= 500;
  return (APICallError.isInstance(error) && error.isRetryable) || isNetworkError(error);
}

/** The refusals of a key, of an account's limits and of a model's name, which another provider may not repeat. */
const ofOneProvider: ReadonlySet<number> = new Set([401, 403, 404, 408, 429]);

/**
 * Whether another model may answer after this failure of a call (managed edition, M6 "Fallback"): the provider refused
 * the key or knows no such model, is overloaded or broken, or could not be reached in time. It may not when the provider
 * refused the request itself.
 */
export function mayFallBack(error: unknown): boolean {
  if (error instanceof OutOfTime || error instanceof ProviderSetupError) return true;
  if (error instanceof NoAnswer || error instanceof BlockedReply || isOurs(error)) return false;
  const status = statusOf(error);
  if (status !== undefined) return ofOneProvider.has(status) || status >= 500;
  // An unreachable address, or a stream that broke.
  if (APICallError.isInstance(error) && (error.statusCode === undefined || error.isRetryable)) return true;
  return isNetworkError(error) || isTimeout(error);
}

/** Whether a model call failed for a reason that will not go away. */
export function isRefused(error: unknown): boolean {
  if (error instanceof NoAnswer || error instanceof BlockedReply || error instanceof ProviderSetupError) return true;
  if (isOutOfQuota(error)) return true;
  const status = statusOf(error) ?? 500;
  return status < 500 && ![408, 409, 429].includes(status);
}

/** The wait before the next attempt: the provider's own, else 0.5 seconds, then 1 second. */
export function retryDelayMs(error: unknown, attempt: number): number {
  return retryAfterMs(error) ?? 500 * 2 ** (attempt - 1);
}

/** Whether the error is the engine's own or its database's, perhaps before the provider was called. */
function isOurs(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof EngineError || error.name === "PostgresError" || isOurs(error.cause);
}

/** HTTP statuses for the `type` or `code` of an error inside a stream. */
const wordedStatus: Readonly<Record<string, number>> = {
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  model_not_found: 404,
  not_found_error: 404,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
  timeout: 504,
  timeout_error: 504,
  server_error: 500,
  internal_error: 500,
  internal_server_error: 500,
  api_error: 500,
  overloaded: 503,
  overloaded_error: 503,
  service_unavailable: 503,
};

/** The HTTP status of an error, or the status that its `type` or `code` stands for; undefined without either. */
function statusOf(error: unknown): number | undefined {
  if (APICallError.isInstance(error)) return asStatus(error.statusCode);
  const fields = fieldsOf(error);
  if (!fields) return undefined;
  const { statusCode, status, code, type } = fields;
  for (const value of [statusCode, status, code, type]) {
    const found = asStatus(value) ?? (typeof value === "string" ? wordedStatus[value] : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The status as a number; undefined for the 200 of a stream that broke after its start. */
function asStatus(value: unknown): number | undefined {
  const status = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === "number" && status >= 400 && status < 600 ? status : undefined;
}

/** The fields of an error that came as data, such as a stream's `{ error }`. */
function fieldsOf(error: unknown): Record<string, unknown> | null {
  if (typeof error !== "object" || error === null || error instanceof Error) return null;
  return error as Record<string, unknown>;
}

/**
 * Whether OpenAI says that the account has no money left, which waiting does not change: in a body, an `error` event or
 * a `response.failed`.
 */
function isOutOfQuota(error: unknown): boolean {
  const data = fieldsOf(APICallError.isInstance(error) ? error.data : error);
  const places = [data, fieldsOf(data?.error), fieldsOf(fieldsOf(data?.response)?.error)];
  return places.some((place) => place?.code === "insufficient_quota" || place?.type === "insufficient_quota");
}

/** `Retry-After` (RFC 9110, in seconds or as a date) or `retry-after-ms`, in milliseconds. */
function retryAfterMs(error: unknown): number | null {
  if (!APICallError.isInstance(error)) return null;
  const milliseconds = Number.parseFloat(error.responseHeaders?.["retry-after-ms"] ?? "");
  if (milliseconds >= 0) return milliseconds;
  const header = error.responseHeaders?.["retry-after"] ?? "";
  const seconds = Number(header);
  if (header.trim() !== "" && seconds >= 0) return seconds * 1000;
  const date = Date.parse(header);
  const served = Date.parse(error.responseHeaders?.date ?? "");
  return Number.isNaN(date) || Number.isNaN(served) ? null : Math.max(0, date - served);
}

const networkCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"]);

/** Whether a connection broke or was never made, by the error codes of Node, undici and other runtimes. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (networkCodes.has(code) || code.startsWith("UND_ERR_")) return true;
  if (error instanceof TypeError && /fetch failed|terminated|network/i.test(error.message)) return true;
  return isNetworkError(error.cause);
}

const timeoutCodes = new Set([
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || timeoutCodes.has(codeOf(error)) || isTimeout(error.cause);
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}
