import { z } from "@hono/zod-openapi";
import type { Context, ErrorHandler, HonoRequest } from "hono";
import { HTTPException } from "hono/http-exception";
import { EngineError, type Issue, type LimitStatus } from "../core/errors.ts";
import { recordRefusal } from "./callers/audit-access.ts";
import type { AppEnv } from "./environment.ts";

/** The body of every error (spec "Errors", decisions §3). */
export const ErrorBody = z
  .object({
    statusCode: z.int().openapi({ example: 404 }),
    message: z.string().openapi({ example: "Unknown model" }),
    error: z.string().openapi({ description: "Reason phrase of the status.", example: "Not Found" }),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string().optional().openapi({ description: "On a 500: what to look for in the log." }),
  })
  .openapi("Error");

export const reasonPhrases: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** The error types of the vendor of the chat-completions API, for clients that expect its error bodies. */
export function vendorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

/** The most issues in a response. More would help nobody, and a body may have very many. */
export const shownIssues = 50;

/** Turns zod's issues into the 400 of decisions §3. */
export function invalid(issues: readonly { path: readonly PropertyKey[]; message: string }[]): EngineError {
  const list: Issue[] = issues
    .slice(0, shownIssues)
    .map(({ path, message }) => ({ path: path.map(String).join("."), message }));
  const told = list.map(({ path, message }) => (path ? `${path}: ${message}` : ofTheBody(message)));
  if (issues.length > shownIssues) told.push(`and ${issues.length - shownIssues} more`);
  const message = told.join("; ");
  return new EngineError("bad-request", message, { issues: list });
}

const ofTheBody = (message: string) => (/^(must|is) /.test(message) ? `The body ${message}` : message);

/** The error that the caller gets for a thrown value. Defects and errors of libraries become a 500 without details. */
function toEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof HTTPException) {
    if (error.status === 400) return new EngineError("bad-request", "The body is not valid JSON");
    if (error.status === 413) return new EngineError("too-large", error.message);
    if (error.status === 415) return new EngineError("unsupported-media-type", "Content-Type must be application/json");
  }
  // Nobody gets this response: the client disconnected while its body was read.
  if (isHangUp(error)) return new EngineError("bad-request", "The request broke off");
  return new EngineError("internal", "Internal server error", { cause: error });
}

/** Whether an error of Node or of a web stream means that the request broke off. */
function isHangUp(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return error.name === "AbortError" || (code === "ECONNRESET" && error.message === "aborted");
}

interface BodyOptions {
  requestId: string;
  vendorShape: boolean;
}

/** The only function that writes an error body. */
function errorBody(error: EngineError, { requestId, vendorShape }: BodyOptions) {
  const { status, code, issues } = error;
  // The message of a 500 is only for the log.
  const message = status === 500 ? "Internal server error" : error.message;
  const extra = { ...(issues ? { issues } : {}), ...(status === 500 ? { requestId } : {}) };
  if (vendorShape) {
    return { statusCode: status, message, error: { message, type: vendorType(status), code }, ...extra };
  }
  return { statusCode: status, message, error: reasonPhrases[status] ?? "Error", ...extra };
}

/** The headers about the remaining requests of a limit, for responses of any status. `X-RateLimit-Reset` is in seconds. */
export function limitHeaders({ limit, remaining, resetSeconds }: LimitStatus): Record<string, string> {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
  };
}

/** The `Retry-After` of a 503 that knows no better time, such as for a database that is away. */
const usualRetrySeconds = 1;

function errorHeaders({ code, retryAfterSeconds, limit, shouldRetry }: EngineError): Record<string, string> {
  const seconds = retryAfterSeconds ?? (code === "unavailable" ? usualRetrySeconds : undefined);
  return {
    ...(seconds === undefined ? {} : { "Retry-After": String(seconds) }),
    ...(limit ? limitHeaders(limit) : {}),
    ...(shouldRetry === undefined ? {} : { "X-Should-Retry": String(shouldRetry) }),
  };
}

/**
 * Whether the client asked for the vendor's error body, or is one of the vendor's own clients, which do not show our
 * `message`.
 */
function wantsVendorShape(request: HonoRequest): boolean {
  return request.header("X-Error-Format") === "openai" || request.header("X-Stainless-Lang") !== undefined;
}

/** Logs that the audit entry of a refusal could not be written; the refusal stays. */
const lost = (c: Context<AppEnv>) => (err: unknown) => c.var.log.error({ err }, "A refusal could not be recorded");

export const onError: ErrorHandler<AppEnv> = async (thrown, c) => {
  const error = toEngineError(thrown);
  // An error without a cause was logged where it was thrown.
  if (error.status >= 500 && error.cause !== undefined) {
    c.var.log.error({ err: error.cause, status: error.status }, error.message);
  }
  if (error.status === 403 && c.var.ctx) await recordRefusal(c.var.ctx, error, c.req.method, c.req.path).catch(lost(c));
  // RFC 9110 requires the header on every 401. Browsers show no password prompt for the bearer scheme.
  if (error.status === 401) c.header("WWW-Authenticate", "Bearer");
  const vendorShape = c.req.path.startsWith("/v1/") && wantsVendorShape(c.req);
  return c.json(errorBody(error, { requestId: c.var.requestId, vendorShape }), error.status, errorHeaders(error));
};
