/** Code → HTTP status. The one list of what can go wrong on purpose (decisions §3). */
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

/** One problem in a request, by the dotted path of the field. */
export interface Issue {
  path: string;
  message: string;
}

interface Options {
  headers?: Record<string, string>;
  issues?: Issue[];
  cause?: unknown;
}

/** A refusal whose message may be shown to the caller. Anything else that is thrown is a 500 and stays in the log. */
export class EngineError extends Error {
  readonly code: ErrorCode;
  readonly status: ErrorStatus;
  readonly headers: Record<string, string>;
  readonly issues: Issue[] | undefined;

  constructor(code: ErrorCode, message: string, options: Options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EngineError";
    this.code = code;
    this.status = statuses[code];
    this.headers = options.headers ?? {};
    this.issues = options.issues;
  }
}

/** A thing that does not exist, or that this caller may not know of: the answer is the same, byte for byte. */
export function notFound(what: string): EngineError {
  return new EngineError("not-found", `${what} not found`);
}

/** Why the server cannot start, in one line that says what to do. Its message is shown as it is: no secret in it. */
export class StartError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
    this.name = "StartError";
  }
}
