import type { ErrorBody } from "./generated/types.ts";

/** Thrown when the server, or something in front of it, refused a request. */
export class AgentEngineError extends Error {
  override name = "AgentEngineError";
  /** The HTTP status. */
  readonly status: number;
  /** The server's error body; null when something else responded, for example a proxy. */
  readonly body: ErrorBody | null;
  /** The request's id in the server's log. */
  readonly requestId: string | null;
  /** How many seconds to wait before a retry; null when the server does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, body: ErrorBody | null, message: string) {
    super(message);
    this.status = response.status;
    this.body = body;
    this.requestId = response.headers.get("X-Request-Id");
    const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : null;
  }

  /** The problems of the input, by field; empty unless the server names fields. */
  get issues(): { path: string; message: string }[] {
    return this.body?.issues ?? [];
  }
}

/** Thrown when a stream ended before its `done`: the turn may go on, and its reply may be stored. */
export class StreamCutError extends Error {
  override name = "StreamCutError";
  /** The id of the last event that arrived. */
  readonly lastEventId: string | null;

  constructor(
    lastEventId: string | null,
    cause?: unknown,
    message = "The connection ended before the reply was complete",
  ) {
    super(message, { cause });
    this.lastEventId = lastEventId;
  }
}

/** The error for a response that the operation does not promise. */
export async function refusalOf(response: Response): Promise<AgentEngineError> {
  const body = parseBody(await response.text().catch(() => ""));
  const status = `${response.status} ${response.statusText}`.trim();
  const foreign = response.ok
    ? `The answer is not Agent Engine's (HTTP ${status}): check baseUrl`
    : `HTTP ${status}, from something in front of Agent Engine or at another address: check baseUrl`;
  return new AgentEngineError(response, body, body?.message ?? foreign);
}

function parseBody(text: string): ErrorBody | null {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    return typeof body?.message === "string" && typeof body.statusCode === "number" ? (body as ErrorBody) : null;
  } catch {
    return null;
  }
}
