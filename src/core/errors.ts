/** The HTTP status of each error code: the only list of errors that callers get (decisions §3). */
const statuses = {
  "bad-request": 400,
  unauthorized: 401,
  forbidden: 403,
  "not-found": 404,
  "method-not-allowed": 405,
  conflict: 409,
  "precondition-failed": 412,
  "too-large": 413,
  "unsupported-media-type": 415,
  unprocessable: 422,
  "rate-limited": 429,
  internal: 500,
  "provider-failed": 502,
  unavailable: 503,
  "provider-timeout": 504,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof statuses;
export type ErrorStatus = (typeof statuses)[ErrorCode];

/** One problem in a request, with the dotted path of its field. */
export interface Issue {
  path: string;
  message: string;
}

/** How much of a limit is left. */
export interface LimitStatus {
  limit: number;
  remaining: number;
  /** How many whole seconds until more is left; at least 1. */
  resetSeconds: number;
}

interface Options {
  /** After how many seconds the caller may try again; absent: those of `limit`. */
  retryAfterSeconds?: number | undefined;
  /** The limit that refuses. */
  limit?: LimitStatus;
  /** Set when the official clients of chat completions would otherwise repeat a request that must not be repeated. */
  shouldRetry?: false;
  issues?: Issue[];
  cause?: unknown;
}

/** A refusal with a message for the caller. Any other error becomes a 500, whose message is only in the log. */
export class EngineError extends Error {
  readonly code: ErrorCode;
  readonly status: ErrorStatus;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: LimitStatus | undefined;
  readonly shouldRetry: false | undefined;
  readonly issues: Issue[] | undefined;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EngineError";
    this.code = code;
    this.status = statuses[code];
    this.retryAfterSeconds = options.retryAfterSeconds ?? options.limit?.resetSeconds;
    this.limit = options.limit;
    this.shouldRetry = options.shouldRetry;
    this.issues = options.issues;
  }
}

/**
 * A model provider can't be called with the agent's settings. The message is the engine's own and contains no secret:
 * people who may use the playground read it, public callers do not.
 */
export class ProviderSetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProviderSetupError";
  }
}

/** A file storage failed without any effect. After any other failure, the request may have had one. */
export class StorageRefusal extends EngineError {}

/** A model did not embed some texts, and neither the key nor a rate limit was the reason. */
export class TextsRefused extends Error {
  /** Whether the model failed, rather than refused the texts, so that a later attempt may succeed. */
  readonly failed: boolean;

  constructor(message: string, { failed = false } = {}) {
    super(message);
    this.failed = failed;
    this.name = "TextsRefused";
  }
}

/** The 404 for a missing thing, and for one of which the caller may not know. Both are equal, byte for byte. */
export function notFound(what: string): EngineError {
  return new EngineError("not-found", `${what} not found`);
}

/** The server can't start. The one-line message says what to do; it is printed and must contain no secret. */
export class StartError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "StartError";
  }
}

/** Returns an error that the caller may see as it is, or else the 500 that hides it. */
export function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError("internal", "Internal server error", { cause: error });
}
