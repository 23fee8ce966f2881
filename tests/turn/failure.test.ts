import { APICallError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { EngineError, ProviderSetupError } from "../../src/core/errors.ts";
import { classifyFailure, isRetryable, retryDelayMs } from "../../src/turn/failure.ts";

function answered(statusCode: number, responseHeaders: Record<string, string> = {}, data?: unknown): APICallError {
  return new APICallError({
    message: "their words",
    url: "http://x",
    requestBodyValues: {},
    statusCode,
    responseHeaders,
    data,
  });
}

function network(code: string): APICallError {
  const cause = Object.assign(new Error("socket"), { code });
  return new APICallError({ message: "x", url: "http://x", requestBodyValues: {}, statusCode: 200, cause });
}

test.each([
  [answered(400), "provider-failed", false],
  [answered(401), "provider-failed", false],
  [answered(302), "provider-failed", false],
  [answered(408), "provider-timeout", true],
  [answered(429), "rate-limited", true],
  [answered(429, {}, { error: { code: "insufficient_quota" } }), "provider-failed", false],
  [answered(429, {}, { response: { error: { code: "insufficient_quota" } } }), "provider-failed", false],
  [answered(429, {}, { type: "error", code: "insufficient_quota" }), "provider-failed", false],
  [answered(429, {}, { response: { error: { code: "rate_limit_exceeded" } } }), "rate-limited", true],
  [answered(500), "provider-failed", true],
  [answered(504), "provider-timeout", true],
  [network("UND_ERR_SOCKET"), "provider-failed", true],
  [network("UND_ERR_HEADERS_TIMEOUT"), "provider-timeout", true],
  [network("UND_ERR_CONNECT_TIMEOUT"), "provider-timeout", true],
  [{ message: "x", code: 429 }, "rate-limited", true],
  [{ message: "x", type: "rate_limit_error" }, "rate-limited", true],
  [{ message: "x", type: "insufficient_quota" }, "provider-failed", false],
  [{ message: "x", code: "overloaded" }, "provider-failed", true],
  [{ message: "x", code: "503" }, "provider-failed", true],
  [{ message: "x", type: "invalid_request_error", code: null }, "provider-failed", false],
  [new DOMException("late", "TimeoutError"), "provider-timeout", false],
  [new Error("what it is nobody knows"), "provider-failed", false],
  ["a string", "provider-failed", false],
  [undefined, "provider-failed", false],
  [new EngineError("unavailable", "The database is unreachable"), "unavailable", false],
  [new Error("Failed query", { cause: Object.assign(new Error("x"), { name: "PostgresError" }) }), "internal", false],
])("%o is %s, retryable: %s", (error, code, retryable) => {
  const failure = classifyFailure(error);
  expect(failure).toMatchObject({ code, cause: error });
  expect(failure.message).not.toContain("words");
  expect(isRetryable(error)).toBe(retryable);
});

test.each([
  [answered(401), "The provider refused the key (status 401)"],
  [
    answered(429, {}, { error: { code: "insufficient_quota" } }),
    "The account at the provider has no money or quota left (status 429)",
  ],
  [{ message: "x", type: "insufficient_quota" }, "The account at the provider has no money or quota left (status 429)"],
  [answered(503), "The provider failed (status 503)"],
  [network("ECONNREFUSED"), "The host refused the connection"],
  [network("ENOTFOUND"), "The host name is not known"],
  [network("UND_ERR_SOCKET"), "The host closed the connection without an answer"],
  [network("UND_ERR_HEADERS_OVERFLOW"), "The headers of the answer are larger than 16 KiB"],
  [new ProviderSetupError("The provider openai has no key"), "The provider openai has no key"],
  [{ message: "their words", code: 429 }, "The provider is asked too often (status 429)"],
  [new Error("their words"), undefined],
  [new EngineError("unavailable", "The database is unreachable"), undefined],
])("%o is explained to those who look after the agent", (error, hint) => {
  expect(classifyFailure(error).hint).toBe(hint);
});

test.each([
  ["seconds", { "retry-after": "7" }, 7, 7_000],
  ["a fraction", { "retry-after": "0.2" }, 1, 200],
  ["milliseconds first", { "retry-after-ms": "1500", "retry-after": "9" }, 2, 1_500],
  ["a date", { "retry-after": "Fri, 21 Nov 2026 08:00:09 GMT", date: "Fri, 21 Nov 2026 08:00:00 GMT" }, 9, 9_000],
  ["a date without another to compare", { "retry-after": "Fri, 21 Nov 2026 08:00:09 GMT" }, 5, 500],
  ["nothing", {}, 5, 500],
  ["nonsense", { "retry-after": "soon" }, 5, 500],
  ["something negative", { "retry-after": "-3" }, 5, 500],
])("a throttle with %s in its headers", (_what, headers, seconds, delay) => {
  const error = answered(429, headers);
  expect(classifyFailure(error).retryAfterSeconds).toBe(seconds);
  expect(retryDelayMs(error, 1)).toBe(delay);
});

test("no wait inside a turn is longer than ten seconds, and no caller's longer than a day", () => {
  expect(isRetryable(answered(503, { "retry-after": "10" }))).toBe(true);
  expect(isRetryable(answered(503, { "retry-after": "11" }))).toBe(false);
  expect(classifyFailure(answered(429, { "retry-after": "1e12" })).retryAfterSeconds).toBe(86_400);
});

test("the wait grows from attempt to attempt", () => {
  expect([1, 2, 3].map((attempt) => retryDelayMs(answered(500), attempt))).toEqual([500, 1_000, 2_000]);
});
