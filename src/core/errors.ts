/** Code → HTTP status: the one list of the errors that callers see (decisions §3). */
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
  /** Whole seconds until more is left; at least 1. */
  resetSeconds: number;
}

interface Options {
  /** The time after which the caller may try again; that of `limit` unless given. */
  retryAfterSeconds?: number | undefined;
  /** The limit that refuses. */
  limit?: LimitStatus;
  /** Set where the official clients of chat completions would repeat a request that must not be repeated. */
  shouldRetry?: false;
  issues?: Issue[];
  cause?: unknown;
}

/** A refusal whose message may be shown to the caller. Any other error becomes a 500, and only the log shows it. */
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
 * A model provider can't be asked as the agent is set up. The message is the engine's own and holds no secret: whoever
 * may try the agent in the playground reads it, and the callers of public doors do not.
 */
export class ProviderSetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProviderSetupError";
  }
}

/** A storage of files failed, and did nothing of what it was asked for; of any other failure it may have done it. */
export class StorageRefusal extends EngineError {}

/** A model did not embed some texts, and neither the key nor the pace was its reason. */
export class TextsRefused extends Error {
  /** Whether the model failed, rather than refused the texts: then a later try may succeed. */
  readonly failed: boolean;

  constructor(message: string, { failed = false } = {}) {
    super(message);
    this.failed = failed;
    this.name = "TextsRefused";
  }
}

/** The 404 of a thing that does not exist, and of one that the caller may not know of: both are equal byte for byte. */
export function notFound(what: string): EngineError {
  return new EngineError("not-found", `${what} not found`);
}

/** The server cannot start. The message says in one line what to do; it is printed and must hold no secret. */
export class StartError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "StartError";
  }
}

/** The error itself when the caller may see it, else the 500 that hides it. */
export function asEngineError(error: unknown): EngineError {
  return error instanceof EngineError ? error : new EngineError("internal", "Internal server error", { cause: error });
}
